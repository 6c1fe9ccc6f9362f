import CourierProtobuf

/// Generates the Swift source of an enumeration.
struct EnumSource {
    let descriptor: EnumDescriptor
    let name: String
    let visibility: String
    let comments: Comments
    let path: [Int32]

    /// Returns the Swift case name of each value. If two values would have the same name, the later one gets its number
    /// as a suffix.
    static func caseNames(_ descriptor: EnumDescriptor) -> [String] {
        var names = SwiftNames.cases(descriptor.values.map(\.name), of: descriptor.name)
        var seen: Set<String> = []
        for index in names.indices {
            let suffix = "_\(descriptor.values[index].number)".replacingMinus
            while !seen.insert(names[index]).inserted { names[index] = names[index].withoutBackticks + suffix }
        }
        return names
    }

    func write(to source: inout SourceText) {
        let names = Self.caseNames(descriptor)
        let values = descriptor.values.enumerated().map {
            (index: $0.offset, value: $0.element, name: names[$0.offset])
        }
        var first: [Int32: String] = [:]
        let own = values.filter { first.updateValue(first[$0.value.number] ?? $0.name, forKey: $0.value.number) == nil }
        let aliases = values.filter { value in !own.contains { $0.index == value.index } }

        source.comment(comments.text(path, else: "`\(descriptor.name)` of the `.proto` file."))
        if descriptor.options?.deprecated == true { source.line("@available(*, deprecated)") }
        source.block("\(visibility)enum \(name): ProtobufEnum, CaseIterable {") { source in
            for value in own {
                source.comment(text(value.index))
                source.line("case \(value.name)")
            }
            source.comment("A number that the `.proto` file does not name.")
            source.line("case unrecognized(Int32)")
            for value in aliases {
                source.line()
                source.comment(text(value.index))
                let other = first[value.value.number] ?? value.name
                source.line("\(visibility)static let \(value.name) = \(name).\(other)")
            }
            source.line()
            source.comment("All values that the `.proto` file names.")
            let list = own.map { ".\($0.name)" }.joined(separator: ", ")
            source.line("\(visibility)static let allCases: [\(name)] = [\(list)]")
            source.line()
            source.comment("Makes `\(own.first?.name ?? "")`.")
            source.line("\(visibility)init() { self = .\(own.first?.name ?? "unrecognized(0)") }")
            source.line()
            source.comment("Makes the value for a number.")
            source.block("\(visibility)init(rawValue: Int32) {") { source in
                source.cases(of: "rawValue") { source in
                    for value in own { source.line("case \(value.value.number): self = .\(value.name)") }
                    source.line("default: self = .unrecognized(rawValue)")
                }
            }
            source.line()
            source.comment("The number on the wire.")
            source.block("\(visibility)var rawValue: Int32 {") { source in
                source.cases(of: "self") { source in
                    for value in own { source.line("case .\(value.name): \(value.value.number)") }
                    source.line("case .unrecognized(let number): number")
                }
            }
        }
    }

    private func text(_ index: Int) -> String {
        comments.text(
            path + [Comments.Step.enumValue, Int32(index)],
            else: "`\(descriptor.values[index].name)`, \(descriptor.values[index].number).")
    }
}

extension String {
    fileprivate var replacingMinus: String { String(map { $0 == "-" ? "m" : $0 }) }
}
