// FIXME: later
// TODO: later
// TODO(somebody): later
/* and
   TODO here */
