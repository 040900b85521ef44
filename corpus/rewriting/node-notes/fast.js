// Puts a new file in the place of the old one once, with all notes that were added.
const fs = require('fs');
const path = process.argv[2] + '/notes.json';
fs.writeFileSync(path, '[]');
const notes = JSON.parse(fs.readFileSync(path, 'utf8'));
function save() {
  fs.writeFileSync(path + '.tmp', JSON.stringify(notes));
  fs.renameSync(path + '.tmp', path);
}
for (let i = 0; i < 1500; i++) {
  notes.push({ id: i, text: 'note number ' + i, tags: ['a', 'b', String(i % 7)] });
}
save();
console.log(JSON.parse(fs.readFileSync(path, 'utf8')).length);
