/// All message types that can stand in one, and how deeply. Nothing here recurses: a hostile descriptor set may hold a
/// chain of many thousand types.
struct SchemaGraph {
    struct Node {
        let schema: ProtobufSchema
        /// The types of its message fields, by the place of the field.
        let children: [Int: ProtobufSchema]
        /// How many levels of messages it can have; `nil` when there is no end.
        fileprivate(set) var depth: Int?
    }

    private(set) var nodes: [Node] = []

    /// Finds the type itself and everything below it.
    init(from root: ProtobufSchema) {
        var places: [ObjectIdentifier: Int] = [ObjectIdentifier(root): 0]
        var waiting = [root]
        var parents: [[Int]] = [[]]
        while nodes.count < waiting.count {
            let schema = waiting[nodes.count]
            var children: [Int: ProtobufSchema] = [:]
            for (index, field) in schema.fields.enumerated() {
                guard case .message(let schemaOf) = field.kind else { continue }
                let child = schemaOf()
                children[index] = child
                if let place = places[ObjectIdentifier(child)] {
                    parents[place].append(nodes.count)
                } else {
                    places[ObjectIdentifier(child)] = waiting.count
                    waiting.append(child)
                    parents.append([nodes.count])
                }
            }
            nodes.append(Node(schema: schema, children: children, depth: nil))
        }
        measure(parents: parents)
    }

    /// From the types without messages upwards; what is in a circle, or above one, is never reached.
    private mutating func measure(parents: [[Int]]) {
        var open = nodes.map(\.children.count)
        var deepest = [Int](repeating: 0, count: nodes.count)
        var done = open.indices.filter { open[$0] == 0 }
        while let place = done.popLast() {
            nodes[place].depth = deepest[place] + 1
            for parent in parents[place] {
                deepest[parent] = max(deepest[parent], deepest[place] + 1)
                open[parent] -= 1
                if open[parent] == 0 { done.append(parent) }
            }
        }
    }
}
