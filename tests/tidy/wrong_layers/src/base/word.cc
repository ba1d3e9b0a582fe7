int word();
