import CourierTesting
import CourierTransport
import Foundation

// A broker for trying things out: MQTT 3.1 to 5.0 on 127.0.0.1, open to every program of this machine, nothing kept.
//
//   swift run --package-path Examples/Demo LocalBroker [port]   0, the default, takes a free one
//
// The first line on standard output is the port. It runs until Ctrl-C or SIGTERM.

let wanted = CommandLine.arguments.dropFirst().first ?? "0"
guard let port = UInt16(wanted) else {
    FileHandle.standardError.write(Data("LocalBroker: \"\(wanted)\" is not a port; name one from 0 to 65535.\n".utf8))
    exit(2)
}
do {
    let broker = try LoopbackBroker.start(on: .tcp(port: port))
    // Written past the buffer of `print`, so that a script can read it from a pipe at once.
    FileHandle.standardOutput.write(Data("\(broker.port)\n".utf8))

    let (stops, stop) = AsyncStream<Void>.makeStream()
    let signals = [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number)
        source.setEventHandler { stop.yield() }
        source.resume()
        return source
    }
    for await _ in stops.prefix(1) {}
    for source in signals { source.cancel() }
    await broker.shutdown()
} catch {
    FileHandle.standardError.write(Data("LocalBroker: \(error)\n".utf8))
    exit(1)
}
