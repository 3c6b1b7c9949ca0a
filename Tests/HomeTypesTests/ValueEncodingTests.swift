import Foundation
import HomeTypes
import Testing

/// Values as JSON without text, compared with the way through it.
@Suite struct ValueEncodingTests {
    private struct Everything: Codable {
        struct Inner: Codable {
            var text = "in"
            var missing: Int?
        }

        enum Choice: String, Codable { case one }

        var yes = true
        var text = "é \" \\ \u{1F600}"
        var empty = ""
        var double = 0.1
        var whole = 3.0
        var negativeZero = -0.0
        var huge = 1.5e300
        var small = -2.5e-10
        var float: Float = 0.1
        var int = -7
        var int8 = Int8.min
        var int16 = Int16.min
        var int32 = Int32.min
        var int64 = Int64.min
        var uint: UInt = 8
        var uint8 = UInt8.max
        var uint16 = UInt16.max
        var uint32 = UInt32.max
        var large = UInt64.max
        var data = Data([0, 255, 7])
        var inner = Inner()
        var missing: Inner?
        var choice = Choice.one
        var list = [1, 2, 3]
        var lists = [[1], [], [2, 3]]
        var records = [Inner(), Inner(text: "two", missing: 1)]
        var table = ["b": 1, "a": 2]
        var optionals: [Double?] = [1.5, nil]
        var json = JSONObject(["a": .list([.null, .large(.max), .object([:])])])
    }

    /// Uses each way in which an encoder can nest.
    private struct Nesting: Encodable {
        enum Key: String, CodingKey { case object, list, plain, inherited }

        var plainSuper = false

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            var object = container.nestedContainer(keyedBy: Key.self, forKey: .object)
            try object.encode(1, forKey: .plain)
            try object.encodeNil(forKey: .list)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode("a")
            try list.encodeNil()
            var inList = list.nestedContainer(keyedBy: Key.self)
            try inList.encode(true, forKey: .plain)
            var listInList = list.nestedUnkeyedContainer()
            try listInList.encode(2.5)
            #expect(list.count == 4)
            try "super".encode(to: list.superEncoder())
            try [1].encode(to: container.superEncoder(forKey: .inherited))
            if plainSuper { try "own".encode(to: container.superEncoder()) }
        }
    }

    private func throughText(_ value: some Encodable) throws -> JSONObject.Value {
        try JSONDecoder().decode(JSONObject.Value.self, from: JSONEncoder().encode(value))
    }

    @Test func `a value has the JSON that its text has`() throws {
        #expect(try JSONObject.Value(encoding: Everything()) == throughText(Everything()))
        #expect(try JSONObject.Value(encoding: Nesting()) == throughText(Nesting()))
        #expect(try JSONObject.Value(encoding: Nesting(plainSuper: true)) == throughText(Nesting(plainSuper: true)))
        #expect(
            try JSONObject.Value(encoding: [Everything(), Everything()]) == throughText([Everything(), Everything()]))
        #expect(try JSONObject.Value(encoding: [String: Int]()) == .object([:]))
        #expect(try JSONObject.Value(encoding: [Int]()) == .list([]))
        #expect(try JSONObject.Value(encoding: "text") == .text("text"))
        #expect(try JSONObject.Value(encoding: UInt64.max) == .large(.max))
    }

    @Test func `a trait has the JSON that its text has, also with attributes that are null or unsupported`() throws {
        var lamp = Matter.LevelControlTrait.Attributes(currentLevel: 3, acceptedCommandList: [0, 4])
        lamp.$onLevel = .null
        #expect(try JSONObject.Value(encoding: lamp) == throughText(lamp))
        #expect(
            try JSONObject.Value(encoding: lamp)
                == .object([
                    "currentLevel": .integer(3), "onLevel": .null,
                    "acceptedCommandList": .list([.integer(0), .integer(4)]),
                ]))
        let trait = Matter.LevelControlTrait(attributes: lamp)
        #expect(try JSONObject.Value(encoding: trait) == throughText(trait))
        #expect(try JSONObject.Value(encoding: Matter.OnOffTrait.Attributes()) == .object([:]))
        let button = Matter.SwitchTrait(attributes: .init(currentPosition: 0, featureMap: [.momentarySwitch]))
        #expect(try JSONObject.Value(encoding: button) == throughText(button))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `a number that is not finite is refused, as in text`(number: Double) {
        #expect(throws: EncodingError.self) { try JSONObject.Value(encoding: ["a": [number]]) }
        #expect(throws: EncodingError.self) { try JSONObject.Value(encoding: Float(number)) }
    }

    @Test func `random numbers have the JSON that their text has`() throws {
        var state: UInt64 = 7
        func next() -> UInt64 {
            // The generator of Numerical Recipes; its high bits are good enough.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
        // Between these, text rounds whole numbers to 17 digits.
        func isExact(_ number: Double) -> Bool { abs(number) < 9e15 || abs(number) > 2e19 }
        for _ in 0..<2_000 {
            let double = Double(bitPattern: next())
            if double.isFinite, isExact(double) {
                #expect(try JSONObject.Value(encoding: [double]) == throughText([double]), "\(double)")
            }
            let float = Float(bitPattern: UInt32(next() >> 32))
            if float.isFinite, isExact(Double(float)) {
                #expect(try JSONObject.Value(encoding: [float]) == throughText([float]), "\(float)")
            }
        }
    }
}
