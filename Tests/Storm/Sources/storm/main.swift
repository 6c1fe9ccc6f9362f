import Dispatch
import Foundation
import Synchronization

// Usage: storm [--seed N] [--clients N] [--update DOCUMENT FIGURE | --check DOCUMENT FIGURE]

let arguments = CommandLine.arguments

/// Returns the `count` words after `name` on the command line.
func values(of name: String, count: Int) -> [String]? {
    guard let index = arguments.firstIndex(of: name), index + count < arguments.count else { return nil }
    return Array(arguments[(index + 1)...(index + count)])
}

func number(_ name: String) -> UInt64? { values(of: name, count: 1).flatMap { UInt64($0[0]) } }

let seed = number("--seed") ?? 1
var scene = Scene()
if let count = number("--clients") { scene.clientCount = Int(count) }

/// Runs every contestant in `scene`, in parallel on all processors.
func outcomes(_ scene: Scene) -> [Outcome] {
    let results = Mutex([Int: Outcome]())
    DispatchQueue.concurrentPerform(iterations: Contestant.all.count) { index in
        let outcome = Contestant.all[index].run(scene, seed)
        results.withLock { $0[index] = outcome }
    }
    return results.withLock { results in Contestant.all.indices.compactMap { results[$0] } }
}

var silent = scene
silent.overflow = .silence
let refusedOutcomes = outcomes(scene)
let report = Report(scene: scene, seed: seed, refused: refusedOutcomes, silent: outcomes(silent)).text
let figure = Figure(scene: scene, outcomes: refusedOutcomes).text
print(report)

/// Returns the document as it is, and with the new report between its two marks.
func document(_ path: String) throws -> (old: String, new: String) {
    let old = try String(contentsOfFile: path, encoding: .utf8)
    let marks = ("<!-- storm: begin, written by Scripts/storm -->\n", "<!-- storm: end -->")
    guard let begin = old.range(of: marks.0), let end = old.range(of: marks.1), begin.upperBound <= end.lowerBound
    else {
        print("storm: \(path) lacks the marks \(marks)")
        exit(2)
    }
    return (old, old[..<begin.upperBound] + "\n\(report)\n\n" + old[end.lowerBound...])
}

if let paths = values(of: "--update", count: 2) {
    try document(paths[0]).new.write(toFile: paths[0], atomically: true, encoding: .utf8)
    try figure.write(toFile: paths[1], atomically: true, encoding: .utf8)
    print("storm: wrote \(paths[0]) and \(paths[1])")
} else if let paths = values(of: "--check", count: 2) {
    let text = try document(paths[0])
    let old = try String(contentsOfFile: paths[1], encoding: .utf8)
    guard text.old == text.new, old == figure else {
        print("storm: \(paths[0]) or \(paths[1]) is not what this run gives; run Scripts/storm --update")
        exit(1)
    }
    print("storm: \(paths[0]) and \(paths[1]) are what this run gives")
}
