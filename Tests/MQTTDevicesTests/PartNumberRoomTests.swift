import Testing

@testable import MQTTDevices

/// Room for the numbers of the parts of new devices, where former devices have taken it.
@Suite struct PartNumberRoomTests {
    /// 32 devices, `d0` and so on, which take all the room together.
    private static let full: [String: [String: Int]] = Dictionary(
        uniqueKeysWithValues: (0..<32).map { device in
            ("d\(device)", Dictionary(uniqueKeysWithValues: (1...1_024).map { ("part\($0)", $0) }))
        })

    private static func describe(_ device: String, in table: inout HomeOnTable) {
        table.receive(
            "homeassistant/device/\(device)/config",
            #"{"dev":{"ids":"\#(device)"},"cmps":{"s":{"p":"switch","cmd_t":"c","uniq_id":"\#(device)"}}}"#)
        table.settle()
    }

    @Test func `a new device gets the room of the device that has been gone for longest`() {
        var numbers = MQTTPartNumbers(Self.full, gone: ["d5", "d3"])
        numbers.keep(["socket": 1], of: "new")
        #expect(numbers.numbers["new"] == ["socket": 1])
        #expect(Set(Self.full.keys).subtracting(numbers.numbers.keys) == ["d5"])
        #expect(numbers.gone == ["d3"])
    }

    @Test func `no device loses its numbers where even all that are gone have too few of them`() {
        var numbers = MQTTPartNumbers(Self.full, gone: ["d5"])
        numbers.keep(Dictionary(uniqueKeysWithValues: (1...1_025).map { ("part\($0)", $0) }), of: "large")
        #expect(numbers.numbers == Self.full)
        numbers.keep(["socket": 1], of: "new")
        #expect(numbers.numbers["new"] == ["socket": 1])
    }

    @Test func `devices give their room to others also where there are too many devices and not too many parts`() {
        let many = Dictionary(
            uniqueKeysWithValues: (0..<MQTTPartNumbers.mostDevices).map { ("d\($0)", ["socket": 1]) })
        var numbers = MQTTPartNumbers(many)
        numbers.keep(["socket": 1], of: "new")
        #expect(numbers.numbers == many)
        for device in many.keys.sorted() where device != "d0" { numbers.depart(device) }
        numbers.keep(["socket": 1], of: "new")
        #expect(numbers.numbers["new"] == ["socket": 1])
        #expect(numbers.numbers["d0"] != nil)
        #expect(numbers.numbers["d1"] == nil)
    }

    @Test func `a device that leaves and returns is gone only in between`() {
        var table = HomeOnTable()
        for device in ["a", "b"] { Self.describe(device, in: &table) }
        for device in ["b", "a"] {
            table.receive("homeassistant/device/\(device)/config", "")
            table.settle()
        }
        #expect(table.home.partNumbers.gone == ["b", "a"])
        Self.describe("b", in: &table)
        #expect(table.home.partNumbers.gone == ["a"])
    }

    @Test func `a device of the home keeps its numbers while the broker does not describe it`() {
        var table = HomeOnTable()
        let keys = Dictionary(uniqueKeysWithValues: Self.full.keys.map { ($0, $0) })
        // The file may be older than the home.
        table.home = MQTTHome(partNumbers: .init(Self.full, gone: ["d5"]), keys: keys)
        Self.describe("new", in: &table)
        #expect(table.home.partNumbers.numbers == Self.full)
        // Its owner removes it.
        table.take(table.home.forget("d7", at: table.now))
        Self.describe("late", in: &table)
        #expect(table.home.partNumbers.numbers["late"] == ["switch.late": 1])
        #expect(Set(Self.full.keys).subtracting(table.home.partNumbers.numbers.keys) == ["d7"])
    }

    @Test func `devices that are not in the home count as gone, after those that have left before`() {
        let numbers = MQTTPartNumbers(["a": ["x": 1], "b": ["x": 1], "c": ["x": 1]], gone: ["c"])
        let home = MQTTHome(partNumbers: numbers, keys: ["id": "b"])
        #expect(home.partNumbers.gone == ["c", "a"])
    }
}
