/// The text of a ``Topic`` without the type of its values: parameters, placeholders, and the values given so far.
///
/// It is what a request carries until the connection is known that gives `%u` and `%c` their meaning. What is wrong
/// with it is kept and thrown when it is used.
public struct TopicTemplate: Sendable {
    private enum Content: Sendable {
        case exact(String)
        case levels([TopicTemplateLevel])
        case unusable(CourierError)
    }

    private let text: String
    private var content: Content
    private var values: [String: String] = [:]

    /// Reads a template.
    ///
    /// - Parameter template: The text; `{name}` as a whole level, `%u`, `%c` and `%%` have a meaning, everything
    ///   else stands for itself, `+` and `#` too.
    public init(_ template: String) {
        text = template
        do {
            content = .levels(try TopicTemplateLevel.parse(template))
        } catch {
            content = .unusable(error)
        }
    }

    /// Takes a topic name or filter as it is; braces and percent signs have no meaning in it.
    ///
    /// - Parameter string: The topic name or filter.
    public init(exactly string: String) {
        text = string
        content = .exact(string)
    }

    /// The names of the parameters that have no value yet, in order.
    public var openParameters: [String] {
        guard case .levels(let levels) = content else { return [] }
        return levels.compactMap(\.parameter).filter { values[$0] == nil }
    }

    /// Gives a value to a parameter.
    ///
    /// An unknown name, a second value, or a value that is empty or holds `/`, `+`, `#` or U+0000 makes the template
    /// unusable; the first mistake is the one that is thrown on use.
    ///
    /// - Parameters:
    ///   - parameter: The parameter's name.
    ///   - value: Its value, which becomes one level.
    /// - Returns: The template with this value.
    public func binding(_ parameter: String, to value: String) -> TopicTemplate {
        var bound = self
        if case .unusable = content { return bound }
        if let problem = bindingProblem(parameter, value) {
            bound.content = .unusable(problem)
        } else {
            bound.values[parameter] = value
        }
        return bound
    }

    /// Makes sure that the text and the values are right.
    ///
    /// - Throws: What is wrong with them.
    public func check() throws {
        if case .unusable(let error) = content { throw error }
    }

    /// The topic name to publish to, if it was given as it is and is known to be legal without a closer look.
    package var exactName: String? {
        guard case .exact(let name) = content, TopicName.isPlainlyLegal(name) else { return nil }
        return name
    }

    /// The topic name to publish to.
    ///
    /// - Parameter identity: What `%u` and `%c` stand for; `nil` when no connection is known.
    /// - Returns: The name.
    /// - Throws: ``CourierError/Code-swift.struct/missingTopicArgument`` when a parameter has no value, or what
    ///   else is wrong.
    public func name(for identity: ConnectionIdentity?) throws -> TopicName {
        if let parameter = openParameters.first {
            throw CourierError(
                .missingTopicArgument,
                "The topic \(text.quoted()) has no value for \"\(parameter)\"; call it as topic(\(parameter): value).")
        }
        return try TopicName(rendered(for: identity))
    }

    /// The topic filter to subscribe to, with `+` for every parameter without a value.
    ///
    /// - Parameter identity: What `%u` and `%c` stand for; `nil` when no connection is known.
    /// - Returns: The filter.
    /// - Throws: What is wrong with the template, a value, or the identity.
    public func filter(for identity: ConnectionIdentity?) throws -> TopicFilter {
        try TopicFilter(rendered(for: identity))
    }

    /// The values of the open parameters in a topic that a message came on.
    ///
    /// - Parameters:
    ///   - topic: The topic of the message.
    ///   - identity: What `%u` and `%c` stand for; `nil` when no connection is known.
    /// - Returns: The values of all parameters by name, `nil` when the topic does not match.
    /// - Throws: What is wrong with the template, a value, or the identity.
    public func arguments(in topic: TopicName, for identity: ConnectionIdentity?) throws -> [String: String]? {
        let filter = try filter(for: identity)
        guard filter.matches(topic) else { return nil }
        guard case .levels(let levels) = content else { return [:] }
        var found = values
        let matched = filter.shareGroup == nil ? levels[...] : levels.dropFirst(2)
        let received = topic.string.utf8.split(separator: TopicRules.separator, omittingEmptySubsequences: false)
        for (level, bytes) in zip(matched, received) {
            if let parameter = level.parameter { found[parameter] = String(Substring(bytes)) }
        }
        return found
    }
}

extension TopicTemplate: CustomStringConvertible {
    /// The text as it was written.
    public var description: String { text }
}

// MARK: - Rendering

extension TopicTemplate {
    private func bindingProblem(_ parameter: String, _ value: String) -> CourierError? {
        guard openParameters.contains(parameter) else {
            let reason =
                if parameter.isEmpty {
                    "was called with a value without a name; name the parameter, as in topic(room: \"7\")"
                } else if values[parameter] != nil {
                    "got two values for \"\(parameter)\"; give one"
                } else {
                    "has no parameter \"\(parameter)\"; it has \(openParameters)"
                }
            return CourierError(.invalidTopicArgument, "The topic \(text.quoted()) \(reason).")
        }
        guard let problem = TopicRules.levelProblem(of: value) else { return nil }
        return CourierError(
            .invalidTopicArgument,
            "The value \(value.quoted()) for \"\(parameter)\" in the topic \(text.quoted()) \(problem).")
    }

    private func rendered(for identity: ConnectionIdentity?) throws -> String {
        switch content {
        case .exact(let string): return string
        case .unusable(let error): throw error
        case .levels(let levels):
            let texts = try levels.map { try rendered($0, for: identity) }
            // A value must not turn an ordinary topic into a $SYS or $share one, also behind $share and its group.
            let first = texts.first == "$share" && levels[0].isPlainText ? 2 : 0
            if first < texts.count, levels[first].isReserved(as: texts[first]) {
                throw CourierError(
                    .invalidTopicArgument,
                    "A value makes the first level of \(text.quoted()) \(texts[first].quoted()), and MQTT reserves what "
                        + "begins with '$'; use another value.")
            }
            return texts.joined(separator: "/")
        }
    }

    private func rendered(_ level: TopicTemplateLevel, for identity: ConnectionIdentity?) throws -> String {
        switch level {
        case .parameter(let name): return values[name] ?? "+"
        case .parts(let parts):
            return try parts.map { part in
                switch part {
                case .text(let text): text
                case .username: try rendered(identity?.username, as: "%u", meaning: "user name")
                case .clientID: try rendered(identity?.clientID, as: "%c", meaning: "client id")
                }
            }.joined()
        }
    }

    private func rendered(_ value: String?, as placeholder: String, meaning: String) throws -> String {
        guard let value else {
            throw CourierError(
                .unresolvedPlaceholder,
                "The topic \(text.quoted()) holds \(placeholder), and no connection is known that has a \(meaning); "
                    + "await connected() first, or, where you resolve it yourself, pass a ConnectionIdentity.")
        }
        if let problem = TopicRules.levelProblem(of: value) {
            throw CourierError(
                .invalidTopicArgument,
                "The connection's \(meaning) \(value.quoted()) for \(placeholder) in the topic \(text.quoted()) \(problem)."
            )
        }
        return value
    }
}
