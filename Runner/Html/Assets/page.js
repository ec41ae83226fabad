// The page is complete without this script. It adds: filters with their state in the address, copying, the form's answer, the values of marks.
(() => {
  'use strict';
  document.documentElement.classList.add('js');
  const byId = id => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const table = JSON.parse(byId('rows').textContent);
  const columnOf = name => table.columns.findIndex(column => column.name === name);
  const chips = all('#filter input');
  const axes = [...new Set(chips.map(chip => chip.name))];
  const every = table.rows.length;

  // The view: which values are chosen on each axis. An axis without a choice shows every value.
  const chosen = () => new Map(axes
    .map(axis => [axis, chips.filter(chip => chip.name === axis && chip.checked).map(chip => chip.value)])
    .filter(([, values]) => values.length > 0));

  const visible = () => {
    const view = chosen();
    return table.rows.filter(row => [...view].every(([axis, values]) => values.includes(row.texts[columnOf(axis)])));
  };

  const show = () => {
    const ids = new Set(visible().map(row => row.id));
    for (const part of all('[data-row]')) part.hidden = !ids.has(part.dataset.row);
    for (const body of all('table.main tbody')) body.hidden = !all('tr[data-row]', body).some(row => !row.hidden);
    byId('count').textContent = `${ids.size} of ${every} cells` + (ids.size === 0 ? ': no cell has all of these values' : '');
  };

  const addressOf = () => [...chosen()].map(([axis, values]) => `${encodeURIComponent(axis)}=${values.map(encodeURIComponent).join(',')}`).join('&');

  const write = () => {
    const address = addressOf();
    history.replaceState(null, '', address ? `#${address}` : location.pathname + location.search);
    byId('unknown').hidden = true;
    show();
  };

  // A fragment with '=' is a view, another one is a place on the page.
  const read = () => {
    const text = location.hash.slice(1);
    if (text.includes('=')) {
      const unknown = [];
      for (const chip of chips) chip.checked = false;
      for (const part of text.split('&')) {
        const [axis, values = ''] = part.split('=');
        for (const value of values.split(',')) {
          const chip = chips.find(each => each.name === decode(axis) && each.value === decode(value));
          if (chip) chip.checked = true;
          else unknown.push(`${decode(axis)} ${decode(value)}`);
        }
      }
      if (unknown.length > 0) for (const chip of chips) chip.checked = false;
      byId('unknown').hidden = unknown.length === 0;
      byId('unknown').textContent = unknown.length === 0 ? ''
        : `The address asks for ${unknown.join(', ')}, which these results do not have. All cells are shown.`;
      show();
      return;
    }

    const place = text && byId(decode(text));
    for (let fold = place; fold; fold = fold.parentElement) if (fold.tagName === 'DETAILS') { fold.open = true; fold.hidden = false; }
    if (place) {
      place.scrollIntoView();
      (place.querySelector('summary') ?? place).focus({ preventScroll: true });
    }
  };

  const decode = text => { try { return decodeURIComponent(text); } catch { return text; } };

  byId('filter').addEventListener('change', write);
  byId('all').addEventListener('click', () => { for (const chip of chips) chip.checked = false; write(); });
  addEventListener('hashchange', read);

  // Copying.
  const csvOf = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const plainOf = (text, column) => column.isFigure ? text.replaceAll(',', '').replace('–', '') : text;
  const markdownOf = text => text.replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('<', '\\<');
  const texts = {
    link: () => location.href.split('#')[0] + (addressOf() ? `#${addressOf()}` : ''),
    csv: () => [
      table.columns.map(column => column.name).join(','),
      ...visible().map(row => row.texts.map((text, index) => csvOf(plainOf(text, table.columns[index]))).join(',')),
    ].join('\n') + '\n',
    markdown: () => [
      `| ${table.columns.map(column => column.header).join(' | ')} |`,
      `|${table.columns.map(column => column.isFigure ? ' ---: |' : ' --- |').join('')}`,
      ...visible().map(row => `| ${row.texts.map(markdownOf).join(' | ')} |`),
    ].join('\n') + '\n',
  };

  const copy = async text => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.body.appendChild(document.createElement('textarea'));
      area.value = text;
      area.select();
      const done = document.execCommand('copy');
      area.remove();
      if (!done) throw new Error('refused');
    }
  };

  for (const button of all('[data-copy]')) {
    button.addEventListener('click', async () => {
      try {
        await copy(texts[button.dataset.copy]());
        byId('copied').textContent = 'Copied.';
      } catch {
        byId('copied').textContent = 'The browser refused to copy.';
      }
      button.focus();
    });
  }

  // The form: the answers are in the page, one block for each combination.
  const needs = byId('needs');
  const advise = () => {
    const answer = new FormData(needs);
    const wanted = `${answer.get('rows')} ${answer.get('tolerates')} ${answer.get('sees')}`;
    for (const body of all('#advice tbody')) body.hidden = body.dataset.needs !== wanted;
    byId('outside').hidden = answer.get('calls') !== 'yes';
    const field = byId('asked');
    const asked = field.validity.valid ? Number.parseFloat(field.value) : Number.NaN;
    const perSecond = `${asked.toLocaleString('en')}/s`;
    for (const mark of all('#advice .drains')) {
      const [low, high] = [mark.dataset.low, mark.dataset.high].map(Number.parseFloat);
      mark.textContent = Number.isNaN(asked) ? '' : low >= asked ? `a drain reaches ${perSecond}`
        : high < asked ? `no drain reaches ${perSecond}` : `${perSecond}: not sure`;
    }
  };
  needs.addEventListener('input', advise);
  needs.addEventListener('submit', event => event.preventDefault());
  advise();

  // The value of a mark, on hover and focus. A chart is one stop of the tab key; arrows lead from mark to mark.
  const tip = byId('tip');
  const tell = mark => {
    tip.textContent = mark.getAttribute('aria-label');
    tip.hidden = false;
    const box = mark.getBoundingClientRect();
    const left = Math.min(box.left + box.width / 2, document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left) + scrollX}px`;
    tip.style.top = `${box.bottom + 6 + scrollY}px`;
  };
  const hush = () => { tip.hidden = true; };
  for (const [event, act] of [['mouseover', tell], ['focusin', tell], ['mouseout', hush], ['focusout', hush]]) {
    document.addEventListener(event, each => {
      const mark = each.target.closest?.('[data-mark]');
      if (mark) act(mark);
    });
  }
  document.addEventListener('keydown', event => {
    if (event.key === 'Escape') hush();
    const mark = event.target.closest?.('[data-mark]');
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!mark || !step) return;
    event.preventDefault();
    const marks = all('[data-mark]', mark.closest('[data-chart]'));
    const next = marks[(marks.indexOf(mark) + step + marks.length) % marks.length];
    mark.setAttribute('tabindex', '-1');
    next.setAttribute('tabindex', '0');
    next.focus();
  });

  show();
  read();
})();
