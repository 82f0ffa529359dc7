%% A server that adds and multiplies for its clients, and counts what it has answered.
-module(calculator).

-export([start/1, serve/1, add/2, multiply/2, stop/0, demo/1]).

%% `Mode` is `right`, or `wrong` for a server that forgets one when it adds.
start(Mode) ->
    Server = spawn(?MODULE, serve, [Mode]),
    register(?MODULE, Server),
    Server.

serve(Mode) -> serve(Mode, 0).

serve(Mode, Answered) ->
    receive
        {Client, {add, A, B}} ->
            Client ! {ok, sum(Mode, A, B)},
            serve(Mode, Answered + 1);
        {Client, {multiply, A, B}} ->
            Client ! {ok, A * B},
            serve(Mode, Answered + 1);
        {Client, stop} ->
            Client ! {bye, Answered}
    end.

sum(right, A, B) -> A + B;
sum(wrong, A, B) -> A + B - 1.

add(A, B) -> ask({add, A, B}).

multiply(A, B) -> ask({multiply, A, B}).

stop() -> ask(stop).

ask(Request) ->
    ?MODULE ! {self(), Request},
    receive
        {ok, Result} -> Result;
        {bye, Answered} -> Answered
    end.

%% A whole session.
demo(Mode) ->
    start(Mode),
    [add(10, 97), multiply(6, 7), stop()].
