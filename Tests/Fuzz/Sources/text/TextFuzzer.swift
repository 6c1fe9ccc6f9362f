import FuzzSupport

@testable import CourierCore

/// Feeds one input to the parser of broker URLs, trace contexts or topic templates.
///
/// No error may contain a password. A context that is written must be read as the same context. A topic that was made of
/// a template must give the values that it was made of.
func check(_ input: InputReader) {
    var input = input
    switch input.byte() % 3 {
    case 0: checkURL(input.text())
    case 1: checkTrace(input.line(), input.text())
    default: checkTemplate(input.line(), input.text())
    }
}

private func checkURL(_ url: String) {
    do {
        let options = try ConnectOptions(url: url)
        let isSocket = options.scheme == "unix"
        demand(!options.host.isEmpty && (options.port > 0 || isSocket), "a URL has a host and a port: \(options)")
    } catch {
        demand(error.code == .invalidConfiguration, "the code is that of a configuration: \(error)")
        demand(
            error.message.hasPrefix("The broker's URL ") && error.message.hasSuffix("."), "a sentence: \(error.message)"
        )
        Secret.demandAbsent(in: "\(error)")
    }
}

private func checkTrace(_ parent: String, _ state: String) {
    guard let context = TraceContext(traceparent: parent, tracestate: state) else { return }
    demand(context.traceparent.utf8.count == 55, "a written context has 55 characters")
    let again = TraceContext(
        traceparent: context.traceparent, tracestate: Plant.isPlanted ? nil : context.state)
    demand(again == context, "a written context is read as the same context: \(context) \(String(describing: again))")
    if let state = context.state {
        demand(state.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a state has only printable characters")
        demand(state.utf8.count <= 32 * 514, "a state is limited")
    }
    demand(context.child().traceID == context.traceID, "a child belongs to the same trace")
}

private func checkTemplate(_ text: String, _ value: String) {
    let identity = ConnectionIdentity(username: "ada", clientID: "phone-7")
    var template = TopicTemplate(text)
    let parameters = template.openParameters
    for parameter in parameters { template = template.binding(parameter, to: value) }
    let name: TopicName
    do {
        name = try template.name(for: identity)
    } catch {
        guard let error = error as? CourierError else { fatalError("another error: \(error)") }
        demand(!error.message.isEmpty && error.message.hasSuffix("."), "an error is a sentence: \(error.message)")
        return
    }
    let found = try? TopicTemplate(text).arguments(in: name, for: identity)
    demand(
        found.map { $0 == Dictionary(parameters.map { ($0, value) }) { first, _ in first } } ?? true,
        "a topic gives the values that it was made of: \(name) \(String(describing: found))")
}
