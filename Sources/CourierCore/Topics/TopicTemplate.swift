/// The template of a ``Topic`` without the type of the topic's values. The template contains the text, and the
/// parameter values that were set so far.
///
/// A request contains a template, because the values of `%u` and `%c` may not be known when the app makes the request.
/// If the text or a value is wrong, the template stores the error. The methods that use the template throw this error.
public struct TopicTemplate: Sendable {
    /// The parsed template, or the error in its text or values.
    private enum Content: Sendable {
        case exact(String)
        case levels([TopicTemplateLevel])
        case unusable(CourierError)
    }

    private let text: String
    private var content: Content
    private var values: [String: String] = [:]

    /// Parses a template.
    ///
    /// - Parameter template: The text. `{name}` as a whole level is a parameter. `%u` stands for the user name, `%c`
    ///   for the client id, and `%%` for a percent sign. All other text is used unchanged, also `+` and `#`.
    public init(_ template: String) {
        text = template
        do {
            content = .levels(try TopicTemplateLevel.parse(template))
        } catch {
            content = .unusable(error)
        }
    }

    /// Creates a template from a topic name or filter without parsing it. Braces and percent signs then have no special
    /// meaning.
    ///
    /// - Parameter string: The topic name or filter.
    public init(exactly string: String) {
        text = string
        content = .exact(string)
    }

    /// The names of the parameters that have no value yet, from the first to the last level.
    public var openParameters: [String] {
        guard case .levels(let levels) = content else { return [] }
        return levels.compactMap(\.parameter).filter { values[$0] == nil }
    }

    /// Sets the value of a parameter.
    ///
    /// The template becomes unusable if the parameter is unknown or already has a value. It also becomes unusable if
    /// the value is empty or contains `/`, `+`, `#` or U+0000. If there are several mistakes, the methods that use the
    /// template throw the error for the first mistake.
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

    /// Checks the text and the values.
    ///
    /// - Throws: The first error in the text or the values.
    public func check() throws {
        if case .unusable(let error) = content { throw error }
    }

    /// The topic name to publish to, if the template was created with `init(exactly:)` and the name is legal; `nil`
    /// otherwise.
    package var exactName: String? {
        guard case .exact(let name) = content, TopicName.isPlainlyLegal(name) else { return nil }
        return name
    }

    /// Returns the topic name to publish to.
    ///
    /// - Parameter identity: The values of `%u` and `%c`; `nil` if no connection is known.
    /// - Returns: The name.
    /// - Throws: ``CourierError/Code-swift.struct/missingTopicArgument`` if a parameter has no value, or another error
    ///   in the template, a value or the identity.
    public func name(for identity: ConnectionIdentity?) throws -> TopicName {
        if let parameter = openParameters.first {
            throw CourierError(
                .missingTopicArgument,
                "The topic \(text.quoted()) has no value for \"\(parameter)\"; call it as topic(\(parameter): value).")
        }
        return try TopicName(rendered(for: identity))
    }

    /// Returns the topic filter to subscribe to, with `+` for each parameter without a value.
    ///
    /// - Parameter identity: The values of `%u` and `%c`; `nil` if no connection is known.
    /// - Returns: The filter.
    /// - Throws: The error in the template, a value or the identity.
    public func filter(for identity: ConnectionIdentity?) throws -> TopicFilter {
        try TopicFilter(rendered(for: identity))
    }

    /// Returns the values of all parameters. If a parameter has no value in the template, its value is read from the
    /// topic of a received message.
    ///
    /// - Parameters:
    ///   - topic: The topic of the message.
    ///   - identity: The values of `%u` and `%c`; `nil` if no connection is known.
    /// - Returns: The values by name; `nil` if the topic does not match.
    /// - Throws: The error in the template, a value or the identity.
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
    /// The text that the template was created from.
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
            // A value must not turn an ordinary topic into a $SYS or $share topic. So check the first level of the
            // topic. In a shared filter, this level follows the group.
            let first = texts.first == "$share" && levels[0].isPlainText ? 2 : 0
            if first < texts.count, levels[first].isReserved(as: texts[first]) {
                throw CourierError(
                    .invalidTopicArgument,
                    "A parameter value makes \(texts[first].quoted()) the first level of the topic \(text.quoted()). "
                        + "MQTT reserves topics that begin with '$'; use another value.")
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
                "The topic \(text.quoted()) contains \(placeholder), but the \(meaning) is not known before the first connection; "
                    + "await connected() first. If you resolve the topic yourself, pass a ConnectionIdentity.")
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
