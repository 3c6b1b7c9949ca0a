import HomeTypes
import Testing

@testable import MQTTDevices

/// Numbers that no device means. None of them ends the process, and what is sound beside them is understood.
@Suite struct HostileNumberTests {
    private static let device = #""dev":{"ids":"x"}"#

    @Test func `a whole number is made of every number`() {
        #expect(Int(nearestTo: .nan) == 0)
        #expect(Int(nearestTo: .nan, in: 1...5) == 1)
        #expect(Int(nearestTo: .infinity) == Int.max)
        #expect(Int(nearestTo: -.infinity) == Int.min)
        #expect(Int(nearestTo: 0x1p63) == Int.max)
        #expect(Int(nearestTo: 1e308, in: 0...254) == 254)
        #expect(Int(nearestTo: -1e308, in: 0...254) == 0)
        #expect(Int(nearestTo: 2.5) == 3)
        #expect(Int(nearestTo: -2.5, in: -3...0) == -3)
    }

    @Test func `numbers beyond those of devices count as not readable`() {
        #expect(JSONValue.number(1e308).double == nil)
        #expect(JSONValue.string("-1e300").double == nil)
        #expect(JSONValue.integer(Int.min).double == nil)
        #expect(JSONValue.number(.nan).double == nil)
        #expect(JSONValue.number(in: "1e16") == nil)
        #expect(JSONValue.number(in: "1764219955123456") == 1_764_219_955_123_456, "a time in microseconds")
        #expect(JSONValue.integer(-9_007_199_254_740_992).double == -9_007_199_254_740_992)
    }

    @Test func `a light with impossible colours goes on`() {
        var table = HomeOnTable()
        table.receive("homeassistant/light/esp/ceiling/config", DiscoveryTests.espLight)
        table.settle()
        table.receive("esp/light/ceiling/state", #"{"state":"ON","color":{"r":1.7e308,"g":-1e308,"b":1e308}}"#)
        #expect(table.values("a4cf12")["OnOff", "onOff"] == true)
        #expect(table.values("a4cf12")["ColorControl", "currentHue"] == nil)
        table.receive("esp/light/ceiling/state", #"{"state":"OFF","color":{"x":-9,"y":3e-308}}"#)
        table.receive("esp/light/ceiling/state", #"{"state":"OFF","color":{"x":9,"y":3e-308},"brightness":1e300}"#)
        table.receive("esp/light/ceiling/state", #"{"state":"OFF","color":{"h":9e15,"s":-9e15}}"#)
        #expect(table.values("a4cf12")["OnOff", "onOff"] == false)
        #expect(table.values("a4cf12")["ColorControl", "currentHue"] == 254)
        #expect(table.values("a4cf12")["ColorControl", "currentSaturation"] == 0)
    }

    @Test func `a light with topics for colour and brightness goes on`() throws {
        var table = HomeOnTable()
        table.receive(
            "homeassistant/light/x/config",
            #"{"command_topic":"l/set","state_topic":"l","rgb_command_topic":"l/rgb/set","rgb_state_topic":"l/rgb","#
                + #""brightness_command_topic":"l/b/set","brightness_state_topic":"l/b","brightness_scale":1e300,"#
                + "\(Self.device)}")
        table.settle()
        table.receive("l/rgb", "1.7e308,-1e308,1e308")
        table.receive("l/b", "1e308")
        #expect(table.home.counts.unreadable == 2)
        #expect(table.values("x")["ColorControl", "currentHue"] == nil)
        table.receive("l/rgb", "0,255,0")
        #expect(table.values("x")["ColorControl", "currentHue"] == 85)
        #expect(
            try table.perform("x", "LevelControl", "moveToLevelWithOnOff", ["level": 254])
                == ["l/b/set 255", "l/set ON"])
    }

    @Test func `a cover with impossible ends goes on`() throws {
        var table = HomeOnTable()
        table.receive(
            "homeassistant/cover/x/config",
            #"{"position_topic":"c","set_position_topic":"c/set","position_open":1e308,"position_closed":-1e308,"#
                + "\(Self.device)}")
        table.settle()
        table.receive("c", "1e308")
        #expect(table.home.counts.unreadable == 1)
        table.receive("c", "9e15")
        #expect(table.values("x")["WindowCovering", "currentPositionLiftPercent100ths"] == 0)
        #expect(
            try table.perform("x", "WindowCovering", "goToLiftPercentage", ["liftPercent100thsValue": 2_500])
                == ["c/set 75"])
    }

    @Test func `a fan whose slowest speed is above its fastest is refused`() {
        var table = HomeOnTable()
        table.receive(
            "homeassistant/fan/x/config",
            #"{"command_topic":"f","percentage_command_topic":"f/p","speed_range_min":5,"speed_range_max":1,"#
                + "\(Self.device)}")
        table.settle()
        #expect(table.devices.isEmpty)
        #expect(table.home.counts.refused.map(\.topic) == ["homeassistant/fan/x/config"])
    }

    @Test func `a thermostat is not moved by an impossible amount`() throws {
        var table = HomeOnTable()
        table.receive(
            "homeassistant/climate/x/config",
            #"{"temperature_command_topic":"t/set","temperature_state_topic":"t","modes":["heat"],\#(Self.device)}"#)
        table.settle()
        table.receive("t", "20")
        let error = #expect(throws: HomeError.self) {
            try table.perform("x", "Thermostat", "setpointRaiseLower", ["mode": "heat", "amount": 1e300])
        }
        #expect(error?.code == .invalidArgument)
        #expect(
            try table.perform("x", "Thermostat", "setpointRaiseLower", ["mode": "heat", "amount": 1e15])
                == ["t/set 35"])
    }
}
