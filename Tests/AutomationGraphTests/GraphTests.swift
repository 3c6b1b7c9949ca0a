import AutomationGraph
import HomeTypes
import Testing
import Transport

@Suite struct GraphTests {
    private func failure(_ json: String) -> GraphError? {
        do throws(GraphError) {
            _ = try Graph(json: json)
            return nil
        } catch { return error }
    }

    private func node(_ json: String) -> String { #"{"version":1,"nodes":[\#(json)]}"# }

    @Test func `every kind of node and expression reads back as it was written`() throws {
        let text = Samples.everything.json
        #expect(try Graph(json: text) == Samples.everything)
        #expect(try Graph(json: text).json == text)
        #expect(Samples.everything.isUnderstood)
    }

    @Test func `spaces and the order of members do not change a graph`() throws {
        let graph = try Graph(
            json: """
                 { "nodes" : [ { "for" : 5.250 , "type" : "delay" } ,
                   { "trait":"OnOff", "entity":{"device":"d1"}, "command":"on", "parameters":{}, "type":"action" } ],
                   "version" : 1 }
                """)
        let target = GraphTrait(.device("d1"), trait: "OnOff")
        #expect(
            graph
                == Graph([
                    .delay(.milliseconds(5250)), .action(GraphAction(target, .command("on", parameters: [:]))),
                ]))
        #expect(
            graph.json == #"{"version":1,"nodes":[{"type":"delay","for":5.25},{"type":"action","entity":"#
                + #"{"device":"d1"},"trait":"OnOff","command":"on"}]}"#)
    }

    @Test(arguments: [
        #"{ "type":"whenever",  "x":[1.50, {"b":1,"a":2}] }"#, #"{"type":"delay","for":5,"about":"x"}"#,
        #"{"type":"condition","expression":{"matches":[{"constant":1}]}}"#,
        #"{"type":"condition","expression":{"not":[{"constant":true}],"strict" : true}}"#,
        #"{"type":"action","entity":{"device":"d1","room":"r"},"trait":"OnOff","command":"on"}"#,
        #"{"type":"if","ifThen":{"condition":{"constant":true},"nodes":[],"note":1.0}}"#,
        #"{"type":"if","ifThen":{"condition":{"constant":true},"nodes":[]},"elseThen":{"nodes":[],"note":1}}"#,
        #"{"type":"sequential","nodes":[{"type":"whenever"}]}"#,
    ])
    func `what a later version adds is kept byte for byte and not understood`(_ later: String) throws {
        let text = node(later)
        let graph = try Graph(json: text)
        #expect(!graph.isUnderstood)
        #expect(graph.json == text)
        // The rest of the graph is read.
        let mixed = try Graph(json: node(#"{"type":"manualStarter"},\#(later)"#))
        #expect(mixed.nodes.first == .manualStarter)
    }

    @Test(arguments: [#"{"version": 2, "nodes": 7}"#, #"{"version":1,"nodes":[],"variables":{ }}"#])
    func `a form of a later version is kept byte for byte`(_ text: String) throws {
        let graph = try Graph(json: " \(text)\n")
        #expect(!graph.isUnderstood)
        #expect(graph.nodes.isEmpty)
        #expect(graph.json == text)
    }

    @Test(arguments: [
        ("[]", "automationGraph"), ("{}", "automationGraph.version"), (#"{"version":0}"#, "automationGraph.version"),
        (#"{"version":"1"}"#, "automationGraph.version"), (#"{"version":1}"#, "automationGraph.nodes"),
        (#"{"version":1,"nodes":[1]}"#, "automationGraph.nodes[0]"),
        (#"{"version":1,"nodes":[{}]}"#, "automationGraph.nodes[0].type"),
        (
            #"{"version":1,"nodes":[{"type":"parallel","nodes":[{"type":"delay"}]}]}"#,
            "automationGraph.nodes[0].nodes[0].for"
        ),
        (#"{"version":1,"nodes":[{"type":"delay","for":"5"}]}"#, "automationGraph.nodes[0].for"),
        (#"{"version":1,"nodes":[{"type":"delay","for":1e3}]}"#, "automationGraph.nodes[0].for"),
        (#"{"version":1,"nodes":[{"type":"delay","for":99999999999999999999}]}"#, "automationGraph.nodes[0].for"),
        (
            #"{"version":1,"nodes":[{"type":"attributeStarter","id":"","trait":"OnOff","entity":{"device":"d"}}]}"#,
            "automationGraph.nodes[0].id"
        ),
        (
            #"{"version":1,"nodes":[{"type":"stateReader","id":"a","trait":"OnOff","entity":{}}]}"#,
            "automationGraph.nodes[0].entity"
        ),
        (
            #"{"version":1,"nodes":[{"type":"action","trait":"OnOff","entity":{"device":"d"}}]}"#,
            "automationGraph.nodes[0]"
        ),
        (
            #"{"version":1,"nodes":[{"type":"condition","expression":{"and":[{"constant":1},{"equals":3}]}}]}"#,
            "automationGraph.nodes[0].expression.and[1].equals"
        ),
        (
            #"{"version":1,"nodes":[{"type":"condition","expression":{"constant":1e999}}]}"#,
            "automationGraph.nodes[0].expression.constant"
        ),
        (
            #"{"version":1,"nodes":[{"type":"if","ifThen":{"condition":{"constant":true}}}]}"#,
            "automationGraph.nodes[0].ifThen.nodes"
        ),
        (
            #"{"version":1,"nodes":[{"type":"if","ifThen":{"condition":{"constant":true},"nodes":[]},"elseIfThens":[1]}]}"#,
            "automationGraph.nodes[0].elseIfThens[0]"
        ),
    ])
    func `a fault is reported with its place`(_ json: String, _ path: String) {
        let error = failure(json)
        #expect(error?.path == path)
        #expect(error?.kind == .malformed)
    }

    @Test(arguments: [
        "", "{", "[1,]", #"{"a":1,"a":2}"#, "01", "1.", "1e", "-", "tru", "{} {}", #""\x""#, #""\ud800""#, #""\u12g4""#,
        "\"\u{1}\"", "{\"a\" 1}", #"{"a":1"#, #""abc"#, "[1 2]", "{1:2}",
    ])
    func `what is not JSON is refused with the byte`(_ json: String) {
        #expect(failure(json)?.kind == .malformed)
        #expect(failure(json)?.path.hasPrefix("byte ") == true)
    }

    @Test func `deep, long and large graphs are refused`() {
        func nested(_ depth: Int) -> String {
            node(
                String(repeating: #"{"type":"sequential","nodes":["#, count: depth)
                    + String(repeating: "]}", count: depth))
        }
        #expect(failure(nested(GraphLimits.flowDepth)) == nil)
        #expect(failure(nested(GraphLimits.flowDepth + 1))?.kind == .tooDeep)
        func negated(_ depth: Int) -> String {
            node(
                #"{"type":"condition","expression":"# + String(repeating: #"{"not":["#, count: depth - 1)
                    + #"{"constant":true}"# + String(repeating: "]}", count: depth - 1) + "}")
        }
        #expect(failure(negated(GraphLimits.expressionDepth)) == nil)
        #expect(failure(negated(GraphLimits.expressionDepth + 1))?.kind == .tooDeep)
        #expect(failure(String(repeating: "[", count: 100_000))?.kind == .tooDeep)
        #expect(failure(String(repeating: " ", count: GraphLimits.bytes + 1))?.kind == .tooLarge)
    }

    @Test(arguments: [
        Duration.zero, .seconds(5), .milliseconds(-250), .nanoseconds(1), .seconds(315_576_000_000),
        Duration(secondsComponent: -3, attosecondsComponent: -1), .seconds(86_400) + .milliseconds(100),
    ])
    func `durations keep every digit`(_ duration: Duration) throws {
        let graph = Graph([.delay(duration)])
        #expect(try Graph(json: graph.json) == graph)
    }

    @Test func `damaged graphs are refused or read back the same`() throws {
        let original = Array(Samples.everything.json.utf8)
        let words = ["{", "}", "[", "]", ",", ":", "null", "\"", "1e9", "{\"constant\":1}", "\\u0000", "é", "-"]
        var random = RandomSource.seeded(12)
        var refused = 0
        for _ in 0..<5_000 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let at = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 1...20, using: &random)))
                case 2: bytes.insert(contentsOf: Array(words.randomElement(using: &random)!.utf8), at: at)
                default:
                    let from = Int.random(in: bytes.indices, using: &random)
                    bytes.insert(contentsOf: bytes[from..<min(bytes.count, from + 30)], at: at)
                }
            }
            do {
                let graph = try Graph(json: bytes)
                let text = graph.json
                #expect(try Graph(json: text) == graph)
                #expect(try Graph(json: text).json == text)
            } catch {
                refused += 1
            }
        }
        // Most damage breaks a graph; some only changes a value.
        #expect((2_000..<5_000).contains(refused))
    }

    @Test func `nodes are numbered in the order of the graph, with the references to them`() throws {
        let text = Samples.everything.json
        let shuffled = try Graph(
            json: text.replacing(#""n1""#, with: #""x""#).replacing(#""n2""#, with: #""n1""#)
                .replacing(#""n3""#, with: #""y""#))
        #expect(shuffled != Samples.everything)
        #expect(shuffled.numbered == Samples.everything)
        let lost = Graph([.condition(GraphCondition(.field("a", of: .reference("gone"))))])
        #expect(lost.numbered == lost)
    }
}
