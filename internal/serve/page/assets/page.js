// The page works without this script: it writes times in the reader's time zone, and draws charts.
(() => {
  'use strict';
  const shown = new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle: 'short'});
  const zone = new Intl.DateTimeFormat(undefined, {timeZoneName: 'long'});
  const localTimes = (root) => {
    for (const e of root.querySelectorAll('time[datetime]')) {
      const at = new Date(e.dateTime);
      e.title = e.dateTime + ', ' + zone.format(at);
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
      for (const m of c.marks || []) {
        const x = u.valToPos(m.at, 'x', true);
        u.ctx.beginPath();
        u.ctx.moveTo(x, u.bbox.top);
        u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
        u.ctx.stroke();
        u.ctx.fillText(m.kind, x + 3, u.bbox.top + 10);
      }
      u.ctx.restore();
    }]}};
    const options = {
      width: at.clientWidth, height: 256, axes: [axis, axis], plugins: [marks],
      scales: {y: {range: (u, low, high) => [0, Math.max(1, high * 1.1)]}},
      series: [
        {},
        {label: c.names[0], stroke: color('--moving'), width: 2, paths: uPlot.paths.stepped({align: 1})},
        {label: c.names[1], stroke: color('--lacking'), dash: [6, 4], paths: uPlot.paths.stepped({align: 1})},
      ],
    };
    const plot = new uPlot(options, [c.times, ...c.values], at);
    addEventListener('resize', () => plot.setSize({width: at.clientWidth, height: 256}));
  };
  localTimes(document);
  document.querySelectorAll('[data-chart]').forEach(draw);
  document.addEventListener('htmx:afterSwap', () => localTimes(document));
})();
