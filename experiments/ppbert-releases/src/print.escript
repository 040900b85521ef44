#!/usr/bin/env escript
%% Print the term on standard input, a file, with Erlang's own pretty-printer.
main([]) ->
    {ok, Bytes} = file:read_file("/dev/stdin"),
    io:format("~p~n", [binary_to_term(Bytes)]).
