"""Places orders: takes them from the queue "orders", inserts a row for each, and sends a message to the queue "shipments".

Three ways to do that, chosen by the variable WAY. Two of them are wrong, and `prove` shows at which moments.
Debian has its libraries: apt-get install python3-pika python3-psycopg2
"""
import json
import os

import pika
import psycopg2


def early_ack(channel, tag, database, order):
    """Wrong: the broker forgets the message before the row is there."""
    channel.basic_ack(tag)
    with database, database.cursor() as cursor:
        cursor.execute("INSERT INTO placed_order (id) VALUES (%s) ON CONFLICT DO NOTHING", (order,))
    ship(channel, order)


def dedupe_apart(channel, tag, database, order):
    """Wrong, and looks right: the table of handled messages commits before the work, in a transaction of its own."""
    with database, database.cursor() as cursor:
        cursor.execute("INSERT INTO handled_message (id) VALUES (%s) ON CONFLICT DO NOTHING", (order,))
        is_new = cursor.rowcount == 1
    if is_new:
        with database, database.cursor() as cursor:
            cursor.execute("INSERT INTO placed_order (id) VALUES (%s)", (order,))
        ship(channel, order)
    channel.basic_ack(tag)


def correct(channel, tag, database, order):
    """Right: the insert can be repeated, and the acknowledgement comes last. A shipment can be sent twice."""
    with database, database.cursor() as cursor:
        cursor.execute("INSERT INTO placed_order (id) VALUES (%s) ON CONFLICT DO NOTHING", (order,))
    ship(channel, order)
    channel.basic_ack(tag)


def ship(channel, order):
    # Confirmed: it returns when the broker has the message.
    channel.basic_publish("", "shipments", json.dumps({"order": order}), pika.BasicProperties(delivery_mode=2))


WAYS = {"early-ack": early_ack, "dedupe-apart": dedupe_apart, "correct": correct}


def main():
    place = WAYS[os.environ["WAY"]]
    database = psycopg2.connect(os.environ["DATABASE"])
    channel = pika.BlockingConnection(pika.URLParameters(os.environ["BROKER"])).channel()
    channel.confirm_delivery()
    channel.basic_qos(prefetch_count=1)

    def handle(channel, method, properties, body):
        order = json.loads(body)["id"]
        print(f"order {order}: received{' again' if method.redelivered else ''}", flush=True)
        place(channel, method.delivery_tag, database, order)

    channel.basic_consume("orders", handle)
    channel.start_consuming()


main()
