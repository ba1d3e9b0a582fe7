// A word, in its own header.
#pragma once
