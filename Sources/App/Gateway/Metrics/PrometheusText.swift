import HomeHub

/// One metric with its samples, for Prometheus.
public struct MetricFamily: Sendable, Equatable {
    /// How a sample behaves over time.
    public enum Kind: String, Sendable {
        case counter, gauge
    }

    /// One value with its labels.
    public struct Sample: Sendable, Equatable {
        /// The labels in the order in which they are written.
        public var labels: [(name: String, value: String)]
        /// The value.
        public var value: Double

        /// Describes a value.
        public init(_ value: Double, labels: [(name: String, value: String)] = []) {
            self.labels = labels
            self.value = value
        }

        public static func == (lhs: Sample, rhs: Sample) -> Bool {
            lhs.value == rhs.value && lhs.labels.elementsEqual(rhs.labels) { $0 == $1 }
        }
    }

    /// The name, for example `gatehouse_sessions`.
    public var name: String
    /// What it counts, and in which unit.
    public var help: String
    /// How a sample behaves over time.
    public var kind: Kind
    /// The values.
    public var samples: [Sample]

    /// The same with the keys of devices in place of their identifiers, because people read the labels.
    func naming(devices names: DeviceNames) -> MetricFamily {
        var family = self
        for sample in family.samples.indices {
            for label in family.samples[sample].labels.indices
            where ["camera", "device"].contains(family.samples[sample].labels[label].name) {
                let id = family.samples[sample].labels[label].value
                family.samples[sample].labels[label].value = names.label(of: id)
            }
        }
        return family
    }

    /// Describes a metric.
    public init(name: String, help: String, kind: Kind, samples: [Sample]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.samples = samples
    }
}

/// The text exposition format of Prometheus, version 0.0.4.
enum PrometheusText {
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    static func encode(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families {
            text += "# HELP \(family.name) \(Self.escaped(family.help, quotes: false))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples {
                text += family.name
                if !sample.labels.isEmpty {
                    let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
                    text += "{\(labels.joined(separator: ","))}"
                }
                text += " \(Self.number(sample.value))\n"
            }
        }
        return text
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\\\"
            case "\n", "\r\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.append(character)
            }
        }
        return result
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return String(value)
    }
}
