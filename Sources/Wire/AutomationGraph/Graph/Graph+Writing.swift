import HomeTypes

extension Graph {
    /// The JSON form. Equal graphs have equal text.
    public var json: String {
        if let otherVersion { return otherVersion.text }
        var writer = JSONTextWriter()
        writer.object { writer in
            writer.name("version")
            writer.raw("\(Self.version)")
            writer.nodes(nodes)
        }
        return writer.text
    }
}

extension JSONTextWriter {
    fileprivate mutating func nodes(_ nodes: [GraphNode]) {
        name("nodes")
        list { writer in for node in nodes { writer.node(node) } }
    }

    private mutating func typed(_ type: String, _ content: (inout JSONTextWriter) -> Void) {
        object { writer in
            writer.member("type", type)
            content(&writer)
        }
    }

    private mutating func node(_ node: GraphNode) {
        switch node {
        case .sequential(let nodes): typed("sequential") { $0.nodes(nodes) }
        case .parallel(let nodes): typed("parallel") { $0.nodes(nodes) }
        case .select(let nodes): typed("select") { $0.nodes(nodes) }
        case .attributeStarter(let reader): typed("attributeStarter") { $0.reader(reader) }
        case .stateReader(let reader): typed("stateReader") { $0.reader(reader) }
        case .eventStarter(let starter):
            typed("eventStarter") { writer in
                writer.member("id", starter.id)
                writer.trait(starter.source)
                writer.member("event", starter.event)
                writer.objectUnlessEmpty("parameters", starter.parameters)
            }
        case .manualStarter: typed("manualStarter") { _ in }
        case .condition(let condition):
            typed("condition") { writer in
                writer.name("expression")
                writer.expression(condition.expression)
                if let duration = condition.duration { writer.duration(duration) }
            }
        case .ifThen(let choice):
            typed("if") { writer in
                writer.name("ifThen")
                writer.branch(choice.ifThen)
                if !choice.elseIfThens.isEmpty {
                    writer.name("elseIfThens")
                    writer.list { writer in for branch in choice.elseIfThens { writer.branch(branch) } }
                }
                if let elseThen = choice.elseThen {
                    writer.name("elseThen")
                    writer.object { $0.nodes(elseThen) }
                }
            }
        case .action(let action): typed("action") { $0.action(action) }
        case .delay(let duration): typed("delay") { $0.duration(duration) }
        case .suppress(let duration): typed("suppress") { $0.duration(duration) }
        case .unknown(let form): raw(form.text)
        }
    }

    private mutating func branch(_ branch: GraphIf.Branch) {
        object { writer in
            writer.name("condition")
            writer.expression(branch.condition)
            writer.nodes(branch.nodes)
        }
    }

    private mutating func reader(_ reader: GraphReader) {
        member("id", reader.id)
        trait(reader.source)
    }

    private mutating func trait(_ trait: GraphTrait) {
        name("entity")
        object { writer in
            switch trait.entity {
            case .device(let id): writer.member("device", id)
            case .structure(let id): writer.member("structure", id)
            }
        }
        if let deviceType = trait.deviceType { member("deviceType", deviceType) }
        member("trait", trait.trait)
    }

    private mutating func objectUnlessEmpty(_ name: String, _ members: [String: JSONObject.Value]) {
        guard !members.isEmpty else { return }
        self.name(name)
        object(members)
    }

    private mutating func action(_ action: GraphAction) {
        trait(action.target)
        switch action.behaviour {
        case .command(let command, let parameters):
            member("command", command)
            objectUnlessEmpty("parameters", parameters)
        case .update(let attributes):
            name("update")
            object(attributes)
        }
        if let deferral = action.deferral { duration(deferral, "defer") }
    }

    private mutating func duration(_ duration: Duration, _ member: String = "for") {
        name(member)
        raw(duration.seconds)
    }

    private mutating func expression(_ expression: GraphExpression) {
        switch expression {
        case .unknown(let form): raw(form.text)
        case .constant(let constant):
            object { writer in
                writer.name("constant")
                writer.value(constant)
            }
        case .reference(let id): object { $0.member("reference", id) }
        case .field(let field, let value):
            object { writer in
                writer.member("field", field)
                writer.name("of")
                writer.expression(value)
            }
        case .item(let index, let list):
            object { writer in
                writer.name("item")
                writer.expression(index)
                writer.name("of")
                writer.expression(list)
            }
        case .operation(let operation, let operands):
            object { writer in
                writer.name(operation.rawValue)
                writer.list { writer in for operand in operands { writer.expression(operand) } }
            }
        }
    }
}

extension Duration {
    /// The seconds as a decimal number, without loss.
    var seconds: String {
        let (seconds, attoseconds) = components
        guard attoseconds != 0 else { return "\(seconds)" }
        let digits = String(attoseconds.magnitude)
        var fraction = String(repeating: "0", count: 18 - digits.count) + digits
        while fraction.last == "0" { fraction.removeLast() }
        let sign = self < .zero ? "-" : ""
        return "\(sign)\(seconds.magnitude).\(fraction)"
    }

    /// Reads a decimal number of seconds; nil if it has an exponent or is out of range.
    init?(seconds text: String) {
        let isNegative = text.hasPrefix("-")
        let parts = text.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
        // Ten thousand years are `Duration`'s published limit; a quarter of what fits is plenty.
        guard let whole = Int64(parts[0]), whole <= 2_000_000_000_000, parts.count <= 2 else { return nil }
        var attoseconds: Int64 = 0
        if parts.count == 2 {
            let fraction = parts[1].prefix(18)
            guard let digits = Int64(fraction + String(repeating: "0", count: 18 - fraction.count)) else { return nil }
            attoseconds = digits
        }
        let sign: Int64 = isNegative ? -1 : 1
        self.init(secondsComponent: sign * whole, attosecondsComponent: sign * attoseconds)
    }
}
