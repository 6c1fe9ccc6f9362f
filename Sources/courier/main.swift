import CourierCommands

OwnProcess.end(CourierProgram().run(Array(CommandLine.arguments.dropFirst()), Console()))
