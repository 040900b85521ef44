// The start of the page.

header();
account();
findings();
timeline();
flames();
