import CourierCore

class Analytics: ICourierEventHandler {
    private(set) var reconnects = 0
    private(set) var lines: [String] = []

    func onEvent(_ event: CourierEvent) {
        switch event.type {
        case .connectionAttempt:
            lines.append("attempt \(event.connectionInfo?.host ?? "")")
        case .connectionSuccess(let timeTaken):
            lines.append("connected in \(timeTaken) ms")
        case .connectionLost(_, let error, let diffLastInbound, let diffLastOutbound):
            lines.append("lost: \(String(describing: error)) \(diffLastInbound ?? 0) \(diffLastOutbound ?? 0)")
        case .subscribeSuccess(let topics, _):
            lines += topics.map { "subscribed \($0.topic) \($0.qos)" }
        case .messageSendSuccess(let topic, let qos, let sizeBytes, let data):
            lines.append("sent \(topic) \(qos) \(sizeBytes) \(data.count)")
        case .reconnect:
            reconnects += 1
        default:
            break
        }
    }

    func reset() {
        lines = []
    }
}

/// A handler that is isolated to the main actor, as its conformance states.
@MainActor
final class ScreenLog: @MainActor ICourierEventHandler {
    private(set) var lastLine = ""

    func onEvent(_ event: CourierEvent) { lastLine = "\(event.type)" }
}
