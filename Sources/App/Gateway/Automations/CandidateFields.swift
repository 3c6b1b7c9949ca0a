import AutomationGraph
import Foundation
import HomeTypes
import Transport

/// The fields of commands, events and traits with their constraints, as JSON. Each is written once and used for all devices.
enum CandidateFields {
    /// A field of a record or attribute of a trait, with its JSON.
    private struct Field: Sendable {
        var schema: FieldSchema
        var isWritable: Bool?
        var json: String
    }

    /// The attributes whose range a device reports itself, with the attributes that have its ends.
    private static let reportedEnds = [
        "measuredValue": ("minMeasuredValue", "maxMeasuredValue"), "currentLevel": ("minLevel", "maxLevel"),
        "occupiedHeatingSetpoint": ("minHeatSetpointLimit", "maxHeatSetpointLimit"),
        "occupiedCoolingSetpoint": ("minCoolSetpointLimit", "maxCoolSetpointLimit"),
    ]

    private static let written = Locked<[ObjectIdentifier: [Field]]>([:])

    /// The fields of a command or event.
    static func fields(of record: any VocabularyRecord.Type) -> String {
        joined(
            known(record) {
                Schema.fields(of: record).map { ($0, nil) }
            } ranges: {
                Schema.ranges(of: record)
            })
    }

    /// The attributes of a trait.
    /// - Parameter reported: those that the device has reported; nil for all.
    static func attributes(of trait: any Trait.Type, reported: [String: JSONObject.Value]?) -> String {
        let writable = Set(trait.writableAttributes)
        let all = known(trait) {
            Schema.attributes(of: trait).filter { !Schema.globalAttributes.contains($0.name) }.map {
                ($0, writable.contains($0.name))
            }
        } ranges: {
            Schema.attributeRanges(of: trait)
        }
        guard let reported else { return joined(all) }
        return joined(
            all.filter { reported[$0.schema.name] != nil }.map { field in
                guard let (low, high) = reportedEnds[field.schema.name], let lower = reported[low],
                    let upper = reported[high], lower != .null, upper != .null
                else { return field }
                return made(field.schema, NumberRange(lower: lower, upper: upper), field.isWritable)
            })
    }

    private static func joined(_ fields: [Field]) -> String {
        "[" + fields.map(\.json).joined(separator: ",") + "]"
    }

    private static func known(
        _ type: Any.Type, _ fields: () -> [(FieldSchema, isWritable: Bool?)], ranges: () -> [String: NumberRange]
    ) -> [Field] {
        let key = ObjectIdentifier(type)
        if let known = written.withLock({ $0[key] }) { return known }
        let ranges = ranges()
        let fields = fields().map { made($0, ranges[$0.name], $1) }
        written.withLock { $0[key] = fields }
        return fields
    }

    private static func made(_ schema: FieldSchema, _ range: NumberRange?, _ isWritable: Bool?) -> Field {
        var members = members(of: schema, range)
        if let isWritable { members["isWritable"] = .bool(isWritable) }
        return Field(schema: schema, isWritable: isWritable, json: json(members))
    }

    private static func members(of field: FieldSchema, _ range: NumberRange?) -> [String: JSONObject.Value] {
        var members = describe(field.kind, range)
        members["name"] = .text(field.name)
        members["isRequired"] = .bool(field.isRequired)
        members["isNullable"] = .bool(field.isNullable)
        return members
    }

    /// The kind of a value, and what it may be.
    private static func describe(_ kind: FieldKind, _ range: NumberRange? = nil) -> [String: JSONObject.Value] {
        func bounded(
            _ type: String, _ constraint: String, _ own: NumberRange?, _ lower: JSONObject.Value,
            _ upper: JSONObject.Value
        ) -> [String: JSONObject.Value] {
            [
                "type": .text(type),
                "constraint": .object([
                    "type": .text(constraint), "minimum": own?.lower ?? lower, "maximum": own?.upper ?? upper,
                ]),
            ]
        }
        switch kind {
        case .bool: return ["type": .text("boolean"), "constraint": .object(["type": .text("boolean")])]
        case .signed(let bits):
            let limit = bits >= 64 ? Int64.max : (Int64(1) << (bits - 1)) - 1
            return bounded("signed", "signedRange", range, .integer(-limit - 1), .integer(limit))
        case .unsigned(let bits):
            let limit = bits >= 64 ? JSONObject.Value.large(.max) : .integer((Int64(1) << bits) - 1)
            return bounded("unsigned", "unsignedRange", range, .integer(0), limit)
        case .number:
            let limit = Double.greatestFiniteMagnitude
            return bounded("number", "floatRange", range, .number(-limit), .number(limit))
        case .text: return ["type": .text("string")]
        case .octets: return ["type": .text("octets")]
        case .choice(let names):
            return [
                "type": .text("enum"),
                "constraint": .object(["type": .text("enum"), "values": .list(names.map { .text($0) })]),
            ]
        case .bitmap: return ["type": .text("bitmap")]
        case .list(let item): return ["type": .text("list"), "item": .object(describe(item))]
        case .record(let fields):
            return ["type": .text("record"), "fields": .list(fields.map { .object(Self.members(of: $0, nil)) })]
        case .other: return ["type": .text("other")]
        }
    }

    static func json(_ members: [String: JSONObject.Value]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Text and finite numbers always have JSON.
        return (try? encoder.encode(JSONObject(members))).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
