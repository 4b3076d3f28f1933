// Nothing but the precompiled headers that all tests share: somebody has to be compiled with them first.
