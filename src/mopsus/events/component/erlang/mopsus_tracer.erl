%% Tells the events of the processes of an Erlang or Elixir node, a line for each, to a monitor over a local connection.
%%
%% Two ways. `attach`: a hidden node of ours loads this module into a running node, whose processes are then traced by
%% one there. `start`: a node of ours runs the system itself, and traces it from its first instruction on.
%%
%% The virtual machine does the observing, so the system is not changed. When the connection ends, so does the tracing, and
%% the module is taken out again.
-module(mopsus_tracer).

-export([main/0, trace/3, hold/1]).

-define(FLAGS, [send, 'receive', procs, set_on_spawn]).
-define(BATCH, 512).   % lines that are sent together at most, so that one slow write does not hold back thousands
-define(UNKNOWN, unknown).
-define(GO, {?MODULE, go}).

%% What to do is told by the environment, because a command line can be read by every user of the machine.
main() ->
    try run() of
        Status -> halt(Status)
    catch
        throw:Message -> io:format(standard_error, "~ts~n", [Message]), halt(2)
    end.

run() ->
    Port = list_to_integer(os:getenv("MOPSUS_PORT")),
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, true}, {nodelay, true}]),
    ok = gen_tcp:send(Socket, [os:getenv("MOPSUS_TOKEN"), $\n]),
    Roots = [list_to_atom(Name) || Name <- string:lexemes(os:getenv("MOPSUS_ROOTS", ""), " ")],
    case os:getenv("MOPSUS_NODE") of
        false -> start(Socket, os:getenv("MOPSUS_ENTRY"));
        Node -> attach(Socket, list_to_atom(Node), Roots)
    end.

%% ---- a running node ----

attach(Socket, Node, Roots) ->
    net_kernel:connect_node(Node) =:= true orelse throw(io_lib:format("cannot reach the node ~ts", [Node])),
    {?MODULE, Binary, File} = code:get_object_code(?MODULE),
    case rpc:call(Node, code, load_binary, [?MODULE, File, Binary]) of
        {module, ?MODULE} -> ok;
        Wrong -> throw(io_lib:format("the node ~ts does not load the tracer: ~tp", [Node, Wrong]))
    end,
    Collector = self(),
    Tracer = spawn(Node, ?MODULE, trace, [Collector, existing, Roots]),
    Watch = monitor(process, Tracer),
    Status = collect(Socket, Tracer, Watch, #{}),
    rpc:call(Node, code, delete, [?MODULE]),
    rpc:call(Node, code, purge, [?MODULE]),
    Status.

%% ---- a node of ours ----

%% The entry process waits until it is traced, so that nothing is lost.
start(Socket, Entry) ->
    {Module, Function, Arguments} = entry(Entry),
    Arity = length(Arguments),
    _ = code:ensure_loaded(Module),
    erlang:function_exported(Module, Function, Arity) orelse erlang:is_builtin(Module, Function, Arity) orelse
        throw(io_lib:format("there is no function ~tw:~tw/~w: is its folder given by --path?", [Module, Function, Arity])),
    {Root, Ended} = spawn_monitor(?MODULE, hold, [{Module, Function, Arguments}]),
    Collector = self(),
    Tracer = spawn(?MODULE, trace, [Collector, {root, Root}, []]),
    Watch = monitor(process, Tracer),
    receive {tracing, Tracer} -> ok end,
    Parent = pid_to_list(group_leader()),
    Call = mfa({Module, Function, Arguments}),
    send_lines(Socket, [line(fork, Parent, pid_to_list(Root), Call), line(init, pid_to_list(Root), Parent, Call)]),
    Root ! ?GO,
    collect_until(Socket, Tracer, Watch, Ended).

hold({Module, Function, Arguments}) ->
    receive ?GO -> ok end,
    apply(Module, Function, Arguments).

%% `calculator:start(3, [a])`
entry(Text) ->
    Parsed = case erl_scan:string(Text ++ ".") of
        {ok, Tokens, _} -> erl_parse:parse_exprs(Tokens);
        Error -> Error
    end,
    case Parsed of
        {ok, [{call, _, {remote, _, {atom, _, Module}, {atom, _, Function}}, Arguments}]} ->
            try {Module, Function, [erl_parse:normalise(Each) || Each <- Arguments]}
            catch error:_ -> throw(io_lib:format("the arguments of ~ts must be plain values", [Text]))
            end;
        _ -> throw(io_lib:format("~ts is no call: write module:function(arguments)", [Text]))
    end.

%% After the entry process, whatever it has started may go on for as long as it lives.
collect_until(Socket, Tracer, Watch, Ended) ->
    receive
        {'DOWN', Ended, process, _, _} ->
            Tracer ! {finish_when_idle, self()},
            collect(Socket, Tracer, Watch, #{});
        {lines, Tracer, Lines, _} ->
            send_lines(Socket, Lines),
            Tracer ! sent,
            collect_until(Socket, Tracer, Watch, Ended);
        {tcp_closed, Socket} -> 0
    end.

%% ---- lines to the monitor ----

%% Alive are the components whose exit the tracer can no longer tell when its node goes down.
collect(Socket, Tracer, Watch, Alive) ->
    receive
        {lines, Tracer, Lines, Now} ->
            send_lines(Socket, Lines),
            Tracer ! sent,
            collect(Socket, Tracer, Watch, maps:merge(Alive, Now));
        {tracing, Tracer} ->
            collect(Socket, Tracer, Watch, Alive);
        {finished, Tracer} -> 0;
        {tcp_closed, Socket} ->
            Tracer ! stop,
            receive {'DOWN', Watch, process, _, _} -> 0 after 2000 -> 0 end;
        {'DOWN', Watch, process, _, Reason} ->
            Left = [Pid || {Pid, true} <- maps:to_list(Alive)],
            send_lines(Socket, [line(exit, Pid, text(case Reason of noconnection -> nodedown; _ -> Reason end)) || Pid <- Left]),
            0
    end.

send_lines(Socket, Lines) ->
    case gen_tcp:send(Socket, Lines) of
        ok -> ok;
        {error, _} -> self() ! {tcp_closed, Socket}
    end.

%% ---- the tracing process, in the node that is observed ----

trace(Collector, What, Roots) ->
    process_flag(priority, high),
    Watch = monitor(process, Collector),
    {Lines, Alive} = begin_tracing(What, Roots),
    Collector ! {tracing, self()},
    tell(Collector, Lines, Alive),
    Names = maps:from_list([{Name, whereis(Name)} || Name <- registered()]),
    loop(#{collector => Collector, watch => Watch, ignored => #{}, names => Names, finish => false}).

begin_tracing({root, Root}, _) ->
    1 = erlang:trace(Root, true, [{tracer, self()} | ?FLAGS]),
    {[], #{}};
begin_tracing(existing, []) ->
    erlang:trace(new_processes, true, [{tracer, self()} | ?FLAGS]),
    announce([Pid || Pid <- processes(), Pid =/= self(), is_of_user(Pid)]);
begin_tracing(existing, Names) ->
    announce([Pid || Name <- Names, Pid <- [whereis(Name)], is_pid(Pid)]).

%% Processes that run already: what they were started with is not known any more, except how many arguments.
announce(Pids) ->
    Traced = [Pid || Pid <- Pids, traced(Pid)],
    Lines = [line(fork, "<0.0.0>", pid_to_list(Pid), mfa(initial_call(Pid))) || Pid <- Traced],
    {Lines, maps:from_list([{pid_to_list(Pid), true} || Pid <- Traced])}.

traced(Pid) ->
    try erlang:trace(Pid, true, [{tracer, self()} | ?FLAGS]) =:= 1
    catch error:badarg -> false  % it has ended, or another tracer has it
    end.

initial_call(Pid) ->
    {Module, Function, Arity} = case proc_lib:translate_initial_call(Pid) of
        {proc_lib, init_p, 5} ->
            case process_info(Pid, initial_call) of
                {initial_call, Call} -> Call;
                undefined -> {?UNKNOWN, ?UNKNOWN, 0}
            end;
        Call -> Call
    end,
    {Module, Function, lists:duplicate(Arity, ?UNKNOWN)}.

is_of_user(Pid) ->
    {Module, _, _} = initial_call(Pid),
    not of_system(Module).

of_system(erlang) -> true;
of_system(?MODULE) -> true;
of_system(Module) ->
    case code:which(Module) of
        Path when is_list(Path) -> lists:prefix(code:root_dir(), Path);
        preloaded -> true;
        _ -> false
    end.

loop(State = #{collector := Collector, watch := Watch, finish := Finish}) ->
    receive
        stop -> ok;
        {'DOWN', Watch, process, _, _} -> ok;
        {finish_when_idle, _} -> loop(State#{finish := true});
        Message when element(1, Message) =:= trace ->
            {Messages, Rest} = drain([Message], ?BATCH),
            {Lines, Alive, Next} = lines(lists:reverse(Messages), State),
            tell(Collector, Lines, Alive),
            case Rest of
                stop -> ok;
                go_on -> loop(Next)
            end
    after case Finish of true -> 200; false -> infinity end ->
        Collector ! {finished, self()}
    end.

drain(Messages, 0) -> {Messages, go_on};
drain(Messages, Count) ->
    receive
        stop -> {Messages, stop};
        Message when element(1, Message) =:= trace -> drain([Message | Messages], Count - 1)
    after 0 -> {Messages, go_on}
    end.

%% One batch is under way at a time; meanwhile the next one grows in the mailbox.
tell(_, [], Alive) when map_size(Alive) =:= 0 -> ok;
tell(Collector, Lines, Alive) ->
    Collector ! {lines, self(), Lines, Alive},
    receive
        sent -> ok;
        {'DOWN', _, process, Collector, _} -> exit(normal)
    end.

lines(Messages, State) ->
    {Lines, Alive, Next} = lists:foldl(
        fun(Message, {Lines, Alive, Now}) ->
            {Line, Changes, Then} = event(Message, Now),
            {[Line | Lines], maps:merge(Alive, Changes), Then}
        end, {[], #{}, State}, Messages),
    {lists:reverse(Lines), Alive, Next}.

%% A process that runs code of the system itself, such as a helper of the code server, is no component.
event({trace, Parent, spawn, Child, Call}, State) ->
    case is_ignored(Parent, State) orelse is_system_call(Call) of
        true -> {[], #{}, ignore(Child, State)};
        false ->
            Id = pid_to_list(Child),
            {line(fork, pid_to_list(Parent), Id, mfa(unwrap(Call))), #{Id => true}, State}
    end;
event({trace, Child, spawned, Parent, Call}, State) ->
    case is_ignored(Child, State) orelse is_system_call(Call) of
        true -> {[], #{}, ignore(Child, State)};
        false ->
            Id = pid_to_list(Child),
            {line(init, Id, pid_to_list(Parent), mfa(unwrap(Call))), #{Id => true}, State}
    end;
event({trace, Pid, exit, Reason}, State = #{ignored := Ignored}) ->
    case is_ignored(Pid, State) of
        true -> {[], #{}, State#{ignored := maps:remove(Pid, Ignored)}};
        false ->
            Id = pid_to_list(Pid),
            {line(exit, Id, text(Reason)), #{Id => false}, State}
    end;
event({trace, Pid, Send, Message, To}, State) when Send =:= send; Send =:= send_to_non_existing_process ->
    case receiver(To, State) of
        none -> {[], #{}, State};
        Id -> {unless_hidden(Pid, Message, State, fun() -> line(send, pid_to_list(Pid), Id, text(Message)) end), #{}, State}
    end;
event({trace, Pid, 'receive', Message}, State) ->
    {unless_hidden(Pid, Message, State, fun() -> line(recv, pid_to_list(Pid), text(Message)) end), #{}, State};
event({trace, Pid, register, Name}, State = #{names := Names}) ->
    {[], #{}, State#{names := Names#{Name => Pid}}};
event(_, State) ->  % links and the like
    {[], #{}, State}.

unless_hidden(Pid, Message, State, Line) ->
    case is_ignored(Pid, State) orelse is_chatter(Message) of
        true -> [];
        false -> Line()
    end.

is_ignored(Pid, #{ignored := Ignored}) -> is_map_key(Pid, Ignored).

ignore(Pid, State = #{ignored := Ignored}) -> State#{ignored := Ignored#{Pid => true}}.

is_system_call(Call) ->
    {Module, _, _} = unwrap(Call),
    of_system(Module).

%% Messages of the runtime system: input and output, code loading, timers of the libraries.
is_chatter({io_request, _, _, _}) -> true;
is_chatter({io_reply, _, _}) -> true;
is_chatter({code_server, _}) -> true;
is_chatter({code_call, _, _}) -> true;
is_chatter(?GO) -> true;
is_chatter(timeout) -> true;
is_chatter(_) -> false.

%% Whoever had a name when the message was sent; by now it may be nobody's.
receiver(Pid, _) when is_pid(Pid) -> pid_to_list(Pid);
receiver(Name, #{names := Names}) when is_atom(Name) ->
    case Names of
        #{Name := Pid} when is_pid(Pid) -> pid_to_list(Pid);
        _ -> none
    end;
receiver({Name, Node}, State) when Node =:= node() -> receiver(Name, State);
receiver(_, _) -> none.

%% What a process really runs, beneath the libraries that start it.
unwrap({proc_lib, init_p, [_, _, Module, Function, Arguments]}) -> unwrap({Module, Function, Arguments});
unwrap({gen, init_it, [_, _, _, Module, Arguments, _]}) -> {Module, init, [Arguments]};
unwrap({gen, init_it, [_, _, _, _, Module, Arguments, _]}) -> {Module, init, [Arguments]};
unwrap({?MODULE, hold, [Call]}) -> Call;
unwrap({erlang, apply, [Fun, Arguments]}) when is_function(Fun), is_list(Arguments) ->
    {module, Module} = erlang:fun_info(Fun, module),
    {name, Name} = erlang:fun_info(Fun, name),
    {Module, Name, Arguments};
unwrap({Module, Function, Arguments}) when is_list(Arguments) -> {Module, Function, Arguments};
unwrap(_) -> {?UNKNOWN, ?UNKNOWN, []}.

%% ---- text ----

line(Kind, First, Text) -> [atom_to_list(Kind), $(, First, $,, Text, ")\n"].

line(Kind, First, Second, Text) -> [atom_to_list(Kind), $(, First, $,, Second, $,, Text, ")\n"].

mfa({Module, Function, Arguments}) -> text({Module, Function, Arguments}).

%% Values as the log format has them. What it has no form for is a string that shows it.
text(Value) when is_tuple(Value) -> [${, join(tuple_to_list(Value)), $}];
text([]) -> "[]";
text(Value) when is_list(Value) ->
    case is_list_of_values(Value) of
        false -> quoted(io_lib:format("~tw", [Value]));
        true ->
            case is_text(Value) of
                true -> quoted(Value);
                false -> [$[, join(Value), $]]
            end
    end;
text(Value) when is_map(Value) ->
    ["#{", lists:join($,, [[text(Key), " => ", text(Each)] || {Key, Each} <- maps:to_list(Value)]), $}];
text(Value) when is_pid(Value) -> pid_to_list(Value);
text(Value) when is_reference(Value) -> ref_to_list(Value);
text(Value) when is_function(Value); is_port(Value) -> quoted(io_lib:format("~tw", [Value]));
text(Value) when is_bitstring(Value), not is_binary(Value) -> quoted(io_lib:format("~tw", [Value]));
text(Value) when is_float(Value) -> io_lib:format("~p", [Value]);
text(Value) -> unicode:characters_to_binary(io_lib:format("~tw", [Value])).

join(Values) -> lists:join($,, [text(Each) || Each <- Values]).

is_list_of_values(Value) -> is_integer(catch length(Value)).

%% Erlang has no strings: a list of at least two printable characters is taken for one.
is_text([_ | [_ | _]] = Value) ->
    lists:all(fun(Each) -> is_integer(Each) andalso Each >= 32 andalso Each =< 126 end, Value);
is_text(_) -> false.

quoted(Text) ->
    [$", [case Each of $" -> "\\\""; $\\ -> "\\\\"; $\n -> "\\n"; _ -> <<Each/utf8>> end || Each <- lists:flatten(Text)], $"].
