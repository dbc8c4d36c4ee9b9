// The page works without this script: it writes times in the reader's time zone, draws charts, and reloads. It
// begins after the first paint.
(() => {
  'use strict';
  const scripts = Object.values(document.currentScript.dataset);
  const localTimes = () => {
    const times = document.querySelectorAll('time[datetime]');
    if (!times.length) return;
    const shown = new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle: 'short'});
    const zone = shown.resolvedOptions().timeZone;
    for (const e of times) {
      const at = new Date(e.dateTime);
      e.title = e.dateTime + ', shown in ' + zone;
      e.textContent = shown.format(at);
    }
  };
  const colors = () => {
    const of = getComputedStyle(document.documentElement);
    return (name) => of.getPropertyValue(name).trim();
  };
  const draw = (at) => {
    const c = JSON.parse(document.getElementById(at.dataset.chart).textContent);
    const color = colors();
    const axis = {stroke: color('--dim'), grid: {stroke: color('--line')}, ticks: {stroke: color('--line')}};
    const marks = {hooks: {draw: [(u) => {
      u.ctx.save();
      u.ctx.strokeStyle = color('--bad');
      u.ctx.fillStyle = color('--bad');
      u.ctx.setLineDash([]);
      let free = u.bbox.left; // where the next text may begin
      for (const m of (c.marks || []).sort((a, b) => a.at - b.at)) {
        const x = u.valToPos(m.at, 'x', true);
        const width = u.ctx.measureText(m.kind).width;
        const start = Math.min(x + 3, u.bbox.left + u.bbox.width - width);
        u.ctx.beginPath();
        u.ctx.moveTo(x, u.bbox.top);
        u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
        u.ctx.stroke();
        if (start >= free) {
          u.ctx.textAlign = 'left';
          u.ctx.fillText(m.kind, start, u.bbox.top + 10);
          free = start + width + 6;
        }
      }
      u.ctx.restore();
    }]}};
    const paths = c.stepped ? uPlot.paths.stepped({align: 1}) : undefined;
    const looks = [{stroke: color('--moving'), width: 2}, {stroke: color('--moving'), width: 2, dash: [2, 4]}];
    const options = {
      width: at.clientWidth, height: 256, axes: [axis, axis], plugins: [marks],
      scales: {y: {range: (u, low, high) => [0, Math.max(1, high) * 1.1]}},
      series: [
        {},
        ...c.series.map((s, n) => ({label: s.name, paths, points: {show: false}, ...looks[n]})),
        {label: c.level.name, paths: uPlot.paths.stepped({align: 1}), stroke: color('--lacking'), dash: [6, 4], points: {show: false}},
      ],
    };
    const plot = new uPlot(options, [c.times, ...c.series.map((s) => s.values), c.level.values], at);
    addEventListener('resize', () => plot.setSize({width: at.clientWidth, height: 256}));
  };
  const load = (src) => new Promise((done) => {
    const script = document.createElement('script');
    script.src = src;
    script.onload = script.onerror = done;
    document.head.append(script);
  });
  let begun = false;
  const begin = async () => {
    if (begun) return;
    begun = true;
    localTimes();
    await Promise.all(scripts.map(load));
    document.querySelectorAll('[data-chart]').forEach(draw);
  };
  addEventListener('load', () => {
    const painted = (list) => { if (list.getEntriesByName('first-contentful-paint').length) begin(); };
    new PerformanceObserver(painted).observe({type: 'paint', buffered: true});
    setTimeout(begin, 1000); // a browser may report no paint
  });
  // Pages reload their content. That of a reader who types, scrolls a table or selects a text stays.
  const busy = () => document.hidden || document.activeElement?.matches('main input, main select') ||
    !getSelection().isCollapsed || [...document.querySelectorAll('.scroll')].some((e) => e.scrollLeft > 0);
  const stale = (is) => { document.getElementById('stale').hidden = !is; };
  document.addEventListener('htmx:beforeRequest', (e) => { if (e.detail.elt.id === 'main' && busy()) e.preventDefault(); });
  document.addEventListener('htmx:afterRequest', (e) => { if (e.detail.elt.id === 'main' && !e.detail.successful) stale(true); });
  document.addEventListener('htmx:afterSwap', (e) => {
    localTimes();
    if (e.detail.requestConfig.elt.id === 'main') stale(false);
  });
})();
