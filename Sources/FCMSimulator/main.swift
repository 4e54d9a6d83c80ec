import Glibc

exit(Launch.run(Array(CommandLine.arguments.dropFirst())))
