import Foundation
import HTTPTypes
import HomeTypes
import STUN
import Testing

@testable import Gateway

/// The settings of the config file, as the page shows and checks them.
@Suite struct ConfigurationSettingsTests {
    let json = "application/json"

    @Test func `the settings are shown by the keys of the file, and no secret comes out`() async throws {
        let relay = try #require(ICEServerURL("turns:turn.example:443"))
        let gateway = try TestGateway { configuration in
            var broker = GatewayConfiguration.MQTT(host: "broker.local", port: 8883)
            broker.tls = .init()
            broker.username = "gatehouse"
            broker.password = "hunter22"
            broker.zigbee2mqttPrefix = nil
            broker.presence = .persons(["Anna": ["watch", "phone"]])
            configuration.mqtt = broker
            configuration.network.turnServers = [.init(url: relay, username: "u", password: "hunter23")]
            configuration.network.tcp = .port(443)
            configuration.http.publicURL = "https://home.example"
            configuration.rtsp = .init()
            configuration.rtmp = .init()
        }
        try await gateway.run { client in
            let response = try await client.get("/v1/configuration/settings")
            #expect(!response.text.contains("hunter"))
            let answer = try response.decoded(GatewayAPI.SettingsAnswer.self)
            #expect(answer.file == "gatehouse.yaml" && answer.hasFile)
            let shown = answer.settings.members
            let mqtt: JSONObject.Value = .object([
                "host": .text("broker.local"), "port": .integer(8883), "tls": .bool(true),
                "username": .text("gatehouse"), "password": .text("***"), "clientID": .text("gatehouse"),
                "discoveryPrefix": .text("homeassistant"),
                "zigbee2mqttPrefix": .bool(false), "publish": .bool(true), "topicPrefix": .text("gatehouse"),
                "commands": .bool(false), "pictures": .bool(false),
                "presence": .object(["Anna": .list([.text("phone"), .text("watch")])]),
            ])
            let turn: JSONObject.Value = .object([
                "url": .text("turns:turn.example:443"), "username": .text("u"), "credential": .text("***"),
            ])
            let network: JSONObject.Value = .object([
                "stun": .list([]), "turn": .list([turn]), "tcp": .integer(443), "mdns": .text("gatehouse"),
                "portMapping": .bool(false),
            ])
            let http: JSONObject.Value = .object(["publicURL": .text("https://home.example")])
            let rtsp: JSONObject.Value = .object(["host": .text("127.0.0.1"), "port": .integer(8554)])
            let rtmp: JSONObject.Value = .object(["host": .text("127.0.0.1"), "port": .integer(1935)])
            let off: JSONObject.Value = .bool(false)
            #expect(shown["mqtt"] == mqtt)
            #expect(shown["network"] == network)
            #expect(shown["http"] == http)
            #expect(shown["rtsp"] == rtsp)
            #expect(shown["rtmp"] == rtmp)
            #expect(shown["recording"] == off)
        }
    }

    @Test func `what is shown is accepted when it is checked`() async throws {
        let relay = try #require(ICEServerURL("turn:turn.example"))
        let gateway = try TestGateway { configuration in
            var broker = GatewayConfiguration.MQTT(host: "broker.local")
            broker.username = "gatehouse"
            broker.password = "hunter22"
            configuration.mqtt = broker
            configuration.network.turnServers = [.init(url: relay, username: "u", password: "hunter23")]
            configuration.recording = .init()
            configuration.rtsp = .init()
            configuration.rtmp = .init()
        }
        try await gateway.run { client in
            let shown = try await client.get("/v1/configuration/settings").decoded(GatewayAPI.SettingsAnswer.self)
            let body = String(decoding: try JSONEncoder().encode(shown.settings), as: UTF8.self)
            let answer = try await client.send(.post, "/v1/configuration/check", body, type: json)
            #expect(try answer.decoded(GatewayAPI.CheckAnswer.self).problems == [])
        }
    }

    @Test(arguments: [
        (#"{"mqtt":{"host":"broker.local","port":0}}"#, "mqtt.port", "0 is not from 1 to 65535"),
        (#"{"mqtt":{"host":"broker.local","port":"8883x"}}"#, "mqtt.port", "expected a whole number"),
        (#"{"mqtt":{"host":"mqtt://broker"}}"#, "mqtt.host", "without mqtt:// in front"),
        (#"{"network":{"stun":["stun.example","turn:x"]}}"#, "network.stun[1]", "expected a STUN server"),
        (#"{"network":{"portMapping":"perhaps"}}"#, "network.portMapping", "expected true or false"),
        (#"{"rtsp":{"host":"everywhere"}}"#, "rtsp.host", "expected an address"),
        (#"{"rtmp":{"host":"everywhere"}}"#, "rtmp.host", "expected an address"),
        (#"{"rtmp":{"port":70000}}"#, "rtmp.port", "70000 is not from 1 to 65535"),
        (#"{"recording":{"days":0}}"#, "recording.days", "0 is not from 1"),
        (#"{"cameras":[{"id":"yard","source":"exec:ls"}]}"#, "cameras[0].source", "expected builtin:doorbell"),
        (#"{"automations":{"clips":[]}}"#, "automations", "unknown key"),
    ])
    func `a draft is checked with the rules of the file`(_ body: String, key: String, reason: String) async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let answer = try await client.send(.post, "/v1/configuration/check", body, type: json)
            #expect(answer.status == .ok)
            let problems = try answer.decoded(GatewayAPI.CheckAnswer.self).problems
            #expect(problems.map(\.key) == [key])
            #expect(problems.first?.reason.contains(reason) == true, "\(problems)")
        }
    }

    @Test func `a draft changes nothing and learns nothing about the environment`() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let before = try await client.get("/v1/configuration/settings").text
            // The tests' environment has the first of the two.
            for name in ["HOME", "NOTHING"] {
                let body = #"{"mqtt":{"host":"broker.local","username":"u","password":"${\#(name)}"}}"#
                let answer = try await client.send(.post, "/v1/configuration/check", body, type: json)
                #expect(answer.text == #"{"problems":[]}"#)
            }
            #expect(try await client.get("/v1/configuration/settings").text == before)
            let wrong = try await client.send(.post, "/v1/configuration/check", "[]", type: json)
            #expect(wrong.status == .badRequest)
        }
    }
}
