"""Places orders on Celery with RabbitMQ, as its first steps have it: https://docs.celeryq.dev/en/stable/getting-started/first-steps-with-celery.html

Debian has its libraries: apt-get install python3-celery python3-psycopg2
"""
import os

import psycopg2
from celery import Celery

app = Celery("tasks", broker=os.environ["BROKER"])
app.conf.task_acks_late = os.environ.get("ACKS") == "late"


@app.task
def place_order(order):
    with psycopg2.connect(os.environ["DATABASE"]) as database, database.cursor() as cursor:
        cursor.execute("INSERT INTO placed_order (id) VALUES (%s)", (order,))
