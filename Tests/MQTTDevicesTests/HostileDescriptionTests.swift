import Foundation
import Testing

@testable import MQTTDevices

/// Descriptions and messages that are made to fill the gateway's memory or to keep it busy.
@Suite struct HostileDescriptionTests {
    @Test func `a short message does not stand for a gigabyte`() {
        var table = HomeOnTable()
        let base = String(repeating: "b", count: 60_000)
        let uses = Array(repeating: #""~x""#, count: 12_000).joined(separator: ",")
        table.receive("homeassistant/switch/a/config", #"{"~":"\#(base)","cmd_t":"c","note":[\#(uses)]}"#)
        table.settle()
        #expect(table.devices.isEmpty)
        #expect(table.home.counts.refused.map(\.reason) == ["~ stands for too much text"])
    }

    @Test func `what a base topic adds takes up space for descriptions`() {
        var table = HomeOnTable()
        let base = String(repeating: "b", count: 1_000)
        let uses = Array(repeating: #""~x""#, count: 50).joined(separator: ",")
        let message = #"{"~":"\#(base)","cmd_t":"~/set","note":[\#(uses)],"uniq_id":"u","dev":{"ids":"d"}}"#
        table.receive("homeassistant/switch/a/config", message)
        table.settle()
        #expect(table.devices.map(\.key) == ["d"])
        #expect(table.home.describedBytes == MQTTHome.entityOverhead + message.utf8.count + 51 * 1_000)
        table.receive("homeassistant/switch/a/config", "")
        #expect(table.home.describedBytes == 0)
    }

    @Test func `many values of two bytes take up the space that they need`() {
        var table = HomeOnTable()
        let zeros = Array(repeating: "0", count: 2_000).joined(separator: ",")
        let message = #"{"cmd_t":"c","note":[\#(zeros)],"uniq_id":"u","dev":{"ids":"d"}}"#
        table.receive("homeassistant/switch/a/config", message)
        #expect(table.home.describedBytes == message.utf8.count + 2_005 * MQTTHome.valueOverhead)
    }

    /// A message that describes switches of the device `a`.
    private static func switches(_ count: Int, _ name: String) -> String {
        let parts = (0..<count).map { #""s\#($0)":{"p":"switch","cmd_t":"c","uniq_id":"\#(name)\#($0)"}"# }
        return #"{"dev":{"ids":"a"},"cmps":{\#(parts.joined(separator: ","))}}"#
    }

    @Test func `each of the small entities of a message takes up the space that it needs`() {
        var table = HomeOnTable()
        let message = Self.switches(100, "x")
        table.receive("homeassistant/device/a/config", message)
        #expect(table.home.describedBytes == message.utf8.count + 100 * MQTTHome.entityOverhead)
    }

    @Test func `templates take up the space that they need once they are read`() {
        var table = HomeOnTable()
        let template = "{{ 1" + String(repeating: "+1", count: 1_000) + " }}"
        let message = #"{"cmd_t":"c","stat_t":"s","val_tpl":"\#(template)","avty":[{"t":"a","val_tpl":"{{ value }}"}]}"#
        table.receive("homeassistant/switch/a/config", message)
        let templateBytes = (template.utf8.count + 11) * MQTTHome.templateOverhead
        #expect(table.home.describedBytes == message.utf8.count + templateBytes + 7 * MQTTHome.valueOverhead)
    }

    @Test func `long templates that all parts share are not read for each of them`() {
        var table = HomeOnTable()
        let template = "{{ '" + String(repeating: "x", count: 4_000) + "' }}"
        let topics = (0..<16).map { #"{"t":"a\#($0)","val_tpl":"\#(template)"}"# }.joined(separator: ",")
        let parts = (0..<100).map { #""s\#($0)":{"p":"switch","cmd_t":"c","uniq_id":"\#($0)"}"# }.joined(separator: ",")
        table.receive("homeassistant/device/a/config", #"{"dev":{"ids":"a"},"avty":[\#(topics)],"cmps":{\#(parts)}}"#)
        // 64 KiB of templates each.
        #expect(table.home.entities.count == 4)
        #expect(table.home.counts.refused.map(\.reason) == ["the templates of all parts are longer than 256 KiB"])
    }

    @Test func `a device has a limited number of entities, whichever topics describe them`() {
        var table = HomeOnTable()
        for topic in 0..<5 { table.receive("homeassistant/device/t\(topic)/config", Self.switches(256, "\(topic)x")) }
        table.settle()
        #expect(table.devices.map(\.endpoints.count) == [MQTTHome.maximumEntities])
        #expect(table.home.counts.refused.map(\.reason) == ["the device has more than 1024 entities"])
        // One that is known may change.
        table.receive(
            "homeassistant/device/t0/config", Self.switches(256, "0x").replacingOccurrences(of: "\"c\"", with: "\"d\""))
        #expect(table.home.entities["switch.0x7"]?.topic == "homeassistant/device/t0/config")
        #expect(table.home.entities.count == MQTTHome.maximumEntities)
    }

    @Test func `an entity with a name of many kilobytes is refused and not remembered`() {
        var table = HomeOnTable()
        for number in 0..<40 {
            let key = String(repeating: "k", count: 50_000) + "\(number)"
            table.receive(
                "homeassistant/device/a/config", #"{"dev":{"ids":"a"},"cmps":{"\#(key)":{"p":"number","min":1}}}"#)
        }
        #expect(table.home.counts.ignored.isEmpty)
        #expect(table.home.counts.refusals == 40)
    }

    @Test func `entities without a counterpart are remembered up to a limit for all kinds together`() {
        var counts = MQTTCounts()
        for number in 0..<7_000 {
            counts.ignore("number", id: "number.\(number)")
            counts.ignore("text", id: "text.\(number)")
        }
        counts.ignore("number", id: "number.0")
        #expect(counts.ignored.values.reduce(0, +) == MQTTCounts.maximumIgnored)
    }

    @Test func `a reason that quotes the message is cut`() {
        var table = HomeOnTable()
        let key = String(repeating: "k", count: 50_000)
        table.receive("homeassistant/device/a/config", #"{"dev":{"ids":"a"},"cmps":{"\#(key)":{"min":1}}}"#)
        table.receive(
            "homeassistant/switch/b/config", #"{"cmd_t":"c","stat_t":"s","pl_on":"\#(key)","dev":{"ids":"b"}}"#)
        table.receive("s", "maybe")
        #expect(table.home.counts.refused.map(\.reason.count) == [MQTTCounts.longestReason])
        #expect(table.home.counts.unreadableMessages.map(\.reason.count) == [MQTTCounts.longestReason])
    }

    @Test func `a device that has other parts each time keeps the numbers of those that it has`() throws {
        var table = HomeOnTable()
        var lockNumbers: Set<Int> = []
        for round in 0..<30 {
            let switches = (0..<100).map { #""s\#($0)":{"p":"switch","cmd_t":"c","uniq_id":"r\#(round)s\#($0)"}"# }
            let parts = [#""lock":{"p":"lock","cmd_t":"l","uniq_id":"lock"}"#] + switches
            table.receive(
                "homeassistant/device/a/config", #"{"dev":{"ids":"a"},"cmps":{\#(parts.joined(separator: ","))}}"#)
            table.settle()
            let device = try #require(table.devices.first)
            #expect(device.endpoints.count == 101)
            #expect(Set(device.endpoints.map(\.number)).count == 101)
            let locks = device.endpoints.filter { $0.types == ["DoorLockDeviceType"] }
            lockNumbers.formUnion(locks.map(\.number))
        }
        #expect(lockNumbers.count == 1)
        let kept = try #require(table.home.partNumbers.numbers["a"])
        #expect(kept.count <= MQTTHome.maximumNumberedParts)
        #expect(kept.values.max() ?? 0 <= MQTTHome.maximumNumberedParts)
    }

    @Test func `the numbers of the parts of all devices have a limit`() {
        let full = (0..<32).map { device in
            ("former\(device)", Dictionary((0..<1_023).map { ("part\($0)", $0 + 1) }, uniquingKeysWith: { $1 }))
        }
        var table = HomeOnTable()
        // They are in the home, so they give no room.
        let keys = Dictionary(full.map { ($0.0, $0.0) }, uniquingKeysWith: { $1 })
        table.home = MQTTHome(partNumbers: .init(Dictionary(full, uniquingKeysWith: { $1 })), keys: keys)
        func describe(_ device: String, _ parts: Int) {
            let switches = (0..<parts).map { #""s\#($0)":{"p":"switch","cmd_t":"c","uniq_id":"\#(device)\#($0)"}"# }
            table.receive(
                "homeassistant/device/\(device)/config",
                #"{"dev":{"ids":"\#(device)"},"cmps":{\#(switches.joined(separator: ","))}}"#)
            table.settle()
        }
        // 32 numbers are left.
        describe("large", 33)
        describe("small", 32)
        describe("late", 1)
        #expect(table.devices.map(\.endpoints.count).sorted() == [1, 32, 33])
        #expect(table.home.partNumbers.numbers.keys.filter { !$0.hasPrefix("former") } == ["small"])
        describe("small", 31)
        describe("late", 2)
        #expect(table.home.partNumbers.numbers["late"] == nil, "the part that is gone keeps its number")
    }

    @Test func `a device that has other identifiers each time does not fill the memory`() {
        var table = HomeOnTable()
        func describe(_ topic: String, _ identifiers: String) {
            table.receive(
                "homeassistant/switch/\(topic)/config",
                #"{"cmd_t":"c","uniq_id":"\#(topic)","dev":{"ids":[\#(identifiers)]}}"#)
        }
        describe("other", #""a","mac""#)
        for number in 0..<1_000 { describe("x", #""a","b\#(number)","c\#(number)""#) }
        #expect(table.home.keys.count <= 2 * 4 + MQTTHome.maximumFormerIdentifiers + 8)
        describe("y", #""mac""#)
        describe("z", #""b999","z""#)
        table.settle()
        #expect(table.devices.map(\.key) == ["a"], "what is still named means the device")
    }

    @Test func `a state that is far longer than those of devices is not read`() {
        var table = HomeOnTable()
        table.receive("homeassistant/switch/3B2A1C_RL_1/config", DiscoveryTests.tasmotaSwitch)
        table.settle()
        let filler = String(repeating: " ", count: MQTTHome.longestState)
        table.receive("stat/plug/RESULT", #"{"POWER":"ON"}"# + filler)
        #expect(table.values("3B2A1C")["OnOff", "onOff"] == JSONValue.null)
        #expect(table.home.counts.unreadableMessages.map(\.topic) == ["stat/plug/RESULT"])
        table.receive("stat/plug/RESULT", #"{"POWER":"ON"}"#)
        #expect(table.values("3B2A1C")["OnOff", "onOff"] == true)
    }
}
