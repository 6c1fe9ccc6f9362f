import CourierTesting
import CourierTransport
import Foundation

// A broker for experiments: MQTT 3.1 to 5.0 on 127.0.0.1. Every program on this machine can connect, and nothing is
// stored on disk.
//
//   swift run --package-path Examples/Demo LocalBroker [port]   (0, the default, selects a free port)
//
// The first line of the output is the port. The broker runs until Ctrl-C or SIGTERM.

let wanted = CommandLine.arguments.dropFirst().first ?? "0"
guard let port = UInt16(wanted) else {
    FileHandle.standardError.write(Data("LocalBroker: \"\(wanted)\" is not a port; name one from 0 to 65535.\n".utf8))
    exit(2)
}
do {
    let (stops, stop) = AsyncStream<Void>.makeStream()
    // On Linux, a signal that arrives before its source is registered ends the program.
    let registration = DispatchGroup()
    let signals = [SIGINT, SIGTERM].map { number in
        let source = DispatchSource.makeSignalSource(signal: number)
        registration.enter()
        source.setRegistrationHandler { registration.leave() }
        source.setEventHandler { stop.yield() }
        source.resume()
        return source
    }
    registration.wait()
    #if canImport(Darwin)
        for number in [SIGINT, SIGTERM] { signal(number, SIG_IGN) }
    #endif

    let broker = try LoopbackBroker.start(on: .tcp(port: port))
    // Written without the buffer of `print`, so that a script can read it from a pipe at once.
    FileHandle.standardOutput.write(Data("\(broker.port)\n".utf8))
    for await _ in stops.prefix(1) {}
    for source in signals { source.cancel() }
    await broker.shutdown()
} catch {
    FileHandle.standardError.write(Data("LocalBroker: \(error)\n".utf8))
    exit(1)
}
