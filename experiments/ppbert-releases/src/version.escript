#!/usr/bin/env escript
%% Print the release of Erlang that runs this.
main([]) ->
    io:format("Erlang/OTP ~s~n", [erlang:system_info(otp_release)]).
