import CloudToCloud
import Foundation
import FuzzTargets
import GatewayClient
import HomeTypes
import SmartDeviceManagement

/// What clouds and programs for Google's APIs send to the gateway, and what a gateway sends to its clients.
extension FuzzTarget {
    static let cloud = FuzzTarget(
        "cloud", "requests of cloud-to-cloud", maximumLength: 4096,
        dictionary: [
            "\"requestId\":", "\"inputs\":", "\"intent\":", "action.devices.SYNC", "action.devices.QUERY",
            "action.devices.EXECUTE", "action.devices.DISCONNECT", "\"payload\":", "\"commands\":", "\"devices\":",
            "\"execution\":", "\"command\":", "\"params\":", "\"challenge\":", "\"id\":", "1e400", "-0", "\\ud800",
            "[[[[",
            "action.devices.commands.OnOff", "action.devices.commands.ColorAbsolute",
        ],
        seeds: {
            let commands = [
                #""OnOff","params":{"on":true}"#, #""BrightnessAbsolute","params":{"brightness":50}"#,
                #""BrightnessRelative","params":{"brightnessRelativeWeight":-2}"#,
                #""ColorAbsolute","params":{"color":{"spectrumHSV":{"hue":300,"saturation":0.5,"value":1}}}"#,
                #""LockUnlock","params":{"lock":true},"challenge":{"pin":"1234"}"#,
                #""ThermostatTemperatureSetRange","params":{"thermostatTemperatureSetpointHigh":26.5}"#,
                #""SetFanSpeed","params":{"fanSpeedPercent":30}"#,
                #""mediaSeekRelative","params":{"relativePositionMs":9}"#,
            ]
            let executions = commands.map { command in
                #"{"requestId":"r","inputs":[{"intent":"action.devices.EXECUTE","payload":{"commands":[{"devices":["#
                    + #"{"id":"d1"}],"execution":[{"command":"action.devices.commands."#
                    + command.dropFirst() + "}]}]}}]}"
            }
            let others = ["SYNC", "QUERY", "DISCONNECT"].map {
                #"{"requestId":"r","inputs":[{"intent":"action.devices.\#($0)","payload":{"devices":[{"id":"d1"}]}}]}"#
            }
            return (executions + others).map { Array($0.utf8) }
        }
    ) { bytes throws(FuzzFailure) in
        guard let request = try? CloudRequest(json: Data(bytes)) else { return }
        guard case .execute(let groups) = request.intent else { return observe(request) }
        for execution in groups.flatMap(\.executions) {
            for endpoint in cloudEndpoints {
                guard
                    let actions = try? endpoint.actions(
                        for: execution.command, execution.parameters, challenge: execution.challenge)
                else { continue }
                for case .send(let trait, _, let parameters) in actions {
                    guard endpoint.traits[trait] != nil else {
                        throw FuzzFailure("a command of a trait that is not there")
                    }
                    guard (try? JSONEncoder().encode(parameters)) != nil else {
                        throw FuzzFailure("parameters that are not JSON")
                    }
                }
            }
        }
    }

    /// An endpoint with all traits that have commands in the cloud.
    private static let cloudEndpoints: [CloudEndpoint] = {
        let number = JSONValue.number(100)
        let values: [String: JSONValue] = [
            "onOff": .bool(true), "currentLevel": number, "percentSetting": number, "systemMode": .string("heat"),
            "occupiedHeatingSetpoint": .number(2_000), "occupiedCoolingSetpoint": .number(2_600),
            "currentPositionLiftPercent100ths": .number(5_000),
        ]
        let traits = CloudTable.standard.traits.mapValues { _ in JSONValue.object(values) }
        return ["ExtendedColorLightDeviceType", "SpeakerDeviceType", "FanDeviceType"].map {
            CloudEndpoint(id: "d1", name: "Thing", types: [$0], traits: traits, isOnline: true)
        }
    }()

    static let sdm = FuzzTarget(
        "sdm", "commands of the Smart Device Management API", maximumLength: 4096,
        dictionary: [
            "\"command\":", "\"params\":", "\"offerSdp\":", "\"mediaSessionId\":", "\"eventId\":", "m=audio ",
            "m=video ",
            "m=application ", "\\r\\n", "sdm.devices.commands.", "CameraLiveStream.GenerateWebRtcStream",
        ],
        seeds: {
            let offer = #"v=0\r\nm=audio 9 X 0\r\nm=video 9 X 0\r\nm=application 9 X 0\r\n"#
            return [
                #"{"command":"sdm.devices.commands.CameraLiveStream.GenerateWebRtcStream","params":{"offerSdp":"\#(offer)"}}"#,
                #"{"command":"sdm.devices.commands.CameraLiveStream.ExtendWebRtcStream","params":{"mediaSessionId":"s"}}"#,
                #"{"command":"sdm.devices.commands.CameraLiveStream.StopWebRtcStream","params":{"mediaSessionId":"s"}}"#,
                #"{"command":"sdm.devices.commands.CameraEventImage.GenerateImage","params":{"eventId":"e"}}"#,
            ].map { Array($0.utf8) }
        }
    ) { bytes throws(FuzzFailure) in
        guard let command = try? SDMCommand(json: Data(bytes)) else { return }
        switch command {
        case .generateWebRtcStream(let text), .extendWebRtcStream(let text), .stopWebRtcStream(let text),
            .generateImage(let text):
            guard !text.isEmpty else { throw FuzzFailure("a required field is empty") }
        }
    }

    static let eventStream = FuzzTarget(
        "event-stream", "the event stream that a gateway sends, in parts", maximumLength: 2048,
        dictionary: ["event: ", "data: ", "id: ", "retry: ", "\n\n", "\r\n", ":", "\u{FEFF}"],
        seeds: {
            [
                "id: c1\nevent: device\ndata: {\"id\":\"d1\"}\n\n: heartbeat\n\n",
                "event: missed\ndata: a\ndata: b\r\n\r\nid:\nevent:x\ndata:\n\n", "data: without a name\n\n",
            ].map { Array($0.utf8) }
        }
    ) { bytes throws(FuzzFailure) in
        let all = Array(bytes)
        var whole = EventStreamReader()
        guard let expected = try? whole.read(all) else { throw FuzzFailure("a short stream is refused") }
        for size in [1, 2, 3, 7] {
            var parts = EventStreamReader()
            var items: [EventStreamReader.Item] = []
            for start in stride(from: 0, to: all.count, by: size) {
                guard let read = try? parts.read(all[start..<min(start + size, all.count)]) else {
                    throw FuzzFailure("a short stream is refused in parts")
                }
                items += read
            }
            guard items == expected else { throw FuzzFailure("a stream reads otherwise in parts of \(size) bytes") }
        }
    }
}
