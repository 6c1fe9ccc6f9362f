import CourierCommands
import Glibc

exit(CourierProgram().run(Array(CommandLine.arguments.dropFirst()), Console()))
