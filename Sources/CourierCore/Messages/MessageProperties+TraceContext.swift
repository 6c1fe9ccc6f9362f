extension MessageProperties {
    /// The trace context in the user properties `traceparent` and `tracestate`; `nil` if there is none.
    ///
    /// It is also `nil` if `traceparent` is invalid or occurs twice. If you set this property, both user properties are
    /// replaced, and the other user properties stay unchanged.
    public var traceContext: TraceContext? {
        get { TraceContext(userProperties.lazy.map { ($0.name, $0.value) }) }
        set {
            guard newValue != nil || !userProperties.isEmpty else { return }
            var properties = userProperties.filter { !TraceContext.propertyNames.contains($0.name) }
            if let newValue {
                properties.append(UserProperty(TraceContext.parentName, newValue.traceparent))
                if let state = newValue.state { properties.append(UserProperty(TraceContext.stateName, state)) }
            }
            userProperties = properties
        }
    }
}

extension TraceContext {
    fileprivate static let parentName = "traceparent"
    fileprivate static let stateName = "tracestate"

    /// The names of the user properties that carry a trace context.
    package static let propertyNames: Set = [parentName, stateName]

    /// Reads the context from user properties. Returns `nil` if `traceparent` is missing, invalid or occurs twice. If
    /// `tracestate` occurs several times, its values are joined.
    package init?(_ properties: some Sequence<(name: String, value: String)>) {
        var parent: String?
        var states: [String] = []
        for (name, value) in properties {
            if name == Self.parentName {
                guard parent == nil else { return nil }
                parent = value
            } else if name == Self.stateName {
                states.append(value)
            }
        }
        guard let parent else { return nil }
        self.init(traceparent: parent, tracestate: states.isEmpty ? nil : states.joined(separator: ","))
    }
}
