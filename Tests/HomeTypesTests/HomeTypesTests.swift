import Foundation
import HomeTypes
import Testing

@Suite struct HomeTypesTests {
    @Test func codesCarryTheNumbersAndNamesOfGRPC() {
        #expect(HomeError.Code.allCases.map(\.rawValue) == Array(1...16))
        #expect(HomeError.Code.notFound.status == "NOT_FOUND")
        #expect(HomeError.Code.notFound.httpStatus == 404)
        #expect(HomeError.Code.unauthenticated.rawValue == 16)
        #expect(HomeError.Code.allCases.allSatisfy { (400...599).contains($0.httpStatus) })
        #expect(Set(HomeError.Code.allCases.map(\.status)).count == 16)
    }

    @Test func errorsSurviveTheWire() throws {
        let error = HomeError.resourceExhausted("32 viewers watch already")
        let data = try JSONEncoder().encode(HomeErrorResponse(error))
        #expect(try JSONDecoder().decode(HomeErrorResponse.self, from: data).homeError == error)
        #expect(!String(decoding: data, as: UTF8.self).contains("subcodes"))
        let mismatch = HomeError(.failedPrecondition, "the camera sends H265, the viewer takes VP8", subcodes: [1])
        let coded = try JSONEncoder().encode(HomeErrorResponse(mismatch))
        #expect(try JSONDecoder().decode(HomeErrorResponse.self, from: coded).homeError == mismatch)
        for subtype: HomeError.Subtype? in [
            nil, .permissions(.notGranted), .decommission(.ineligible), .hubActivation(.unsupported),
            .gal(.init(code: 7)), .bulk(errors: [.notFound("a"), .notGranted("b")]),
            .details(JSONObject(["a": .integer(1)])),
        ] {
            let refused = HomeError(.permissionDenied, "not yours", subtype: subtype)
            let data = try JSONEncoder().encode(HomeErrorResponse(refused))
            #expect(try JSONDecoder().decode(HomeErrorResponse.self, from: data).homeError.subtype == subtype)
        }
        let later = Data(
            #"{"error":{"code":7,"status":"PERMISSION_DENIED","message":"m","permissions":"ofTomorrow"}}"#.utf8)
        let read = try JSONDecoder().decode(HomeErrorResponse.self, from: later).homeError
        #expect(read.subtype == .permissions(.unknown))
        let odd = Data(#"{"error":{"code":99,"status":"X","message":"m"}}"#.utf8)
        #expect(try JSONDecoder().decode(HomeErrorResponse.self, from: odd).homeError.code == .unknown)
    }

    @Test func theStatusesOfMatterSurviveTheWire() throws {
        let error = HomeError(.invalidArgument, "no", subtype: .matter(.init(code: 1, clusterCode: 4)))
        let data = try JSONEncoder().encode(HomeErrorResponse(error))
        #expect(String(decoding: data, as: UTF8.self).contains(#""matter":{"#))
        let read = try JSONDecoder().decode(HomeErrorResponse.self, from: data).homeError
        #expect(read.subtype == .matter(.init(code: 1, clusterCode: 4)))
    }

    @Test func absentNullAndOctetsOfACommandAreToldApart() throws {
        typealias Push = Google.PushAvStreamTransportTrait
        func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
            try JSONDecoder().decode(type, from: Data(text.utf8))
        }
        let absent = try read(Push.SetTransportStatusCommand.self, #"{"transportStatus":"active"}"#)
        #expect(absent.connectionID == .none)
        let null = try read(Push.SetTransportStatusCommand.self, #"{"transportStatus":0,"connectionID":null}"#)
        #expect(null.connectionID == .some(nil))
        #expect(null.transportStatus == .active)
        let partial = try read(
            Push.ModifyPushTransportCommand.self,
            #"{"connectionID":1,"transportOptions":{"triggerOptions":{"motionZones":null,"motionSensitivity":5}}}"#)
        #expect(partial.transportOptions.url == nil)
        #expect(partial.transportOptions.triggerOptions?.motionZones == .some(nil))
        #expect(partial.transportOptions.triggerOptions?.motionSensitivity == 5)
        #expect(partial.transportOptions.triggerOptions?.triggerType == nil)
        let trigger = try read(
            Push.ManuallyTriggerTransportCommand.self,
            #"{"connectionID":1,"activationReason":"emergency","userDefined":"AAEC"}"#)
        #expect(trigger.userDefined == Data([0, 1, 2]))
        #expect(throws: HomeError.self) {
            var long = trigger
            long.userDefined = Data(count: 257)
            try long.validate()
        }
    }

    @Test func qualityHintsAreReadByNameAndByNumberAndWrittenByName() throws {
        typealias QualityHint = Google.WebRtcLiveViewTrait.QualityHint
        func read(_ text: String) -> QualityHint? { try? JSONDecoder().decode(QualityHint.self, from: Data(text.utf8)) }
        #expect(read("\"hd\"") == .hd)
        #expect(read("2") == .hd)
        for unknown in ["\"8k\"", "99", "-1", "1.5", "18446744073709551616"] {
            #expect(read(unknown) == .unrecognized_, "\(unknown)")
        }
        for other in ["null", "{}", "[1]", "true"] { #expect(read(other) == nil, "\(other)") }
        #expect(String(decoding: try JSONEncoder().encode(QualityHint.uhd), as: UTF8.self) == "\"uhd\"")
    }

    @Test func connectivityIsAggregatedFromTheParts() {
        func make(_ states: [ConnectivityState]) -> ConnectivityState {
            SourceConnectivity(
                aggregating: states.map { .init(connectivityState: $0, dataSourceLocality: .direct) }
            ).connectivityState
        }
        #expect(make([.online, .online]) == .online)
        #expect(make([.online, .offline]) == .partiallyOnline)
        #expect(make([.offline, .unknown]) == .offline)
        #expect(make([]) == .unknown)
        let mixed = SourceConnectivity(aggregating: [
            .init(connectivityState: .online, dataSourceLocality: .direct),
            .init(connectivityState: .online, dataSourceLocality: .remote),
        ])
        #expect(mixed.dataSourceLocality == .mixed)
    }

    @Test func aDeviceReadsBackEqual() throws {
        let traits = TraitCollection([
            Google.WebRtcLiveViewTrait(attributes: .init(supportedTalkbackType: .directly)),
            Google.PushAvStreamTransportTrait(), Google.DoorbellPressTrait(),
        ])
        let device = DeviceSnapshot(
            id: "door", name: "Door",
            endpoints: [
                EndpointSnapshot(
                    id: 1, types: [GoogleDoorbellDeviceType.name], traits: traits,
                    connectivity: .init(connectivityState: .online, dataSourceLocality: .localPeer))
            ],
            source: .init(state: .flowing, tracks: [.init(kind: "video", codec: "VP8")]))
        #expect(device.type == GoogleDoorbellDeviceType.name && device.connectivityState == .online)
        let data = try JSONEncoder().encode(device)
        #expect(try JSONDecoder().decode(DeviceSnapshot.self, from: data) == device)
        #expect(device.traits["DoorbellPress"] != nil)
        #expect(device.traits["OnOff"] == nil)
    }

    @Test func constraintsNameTheFieldAndWhatItMayBe() throws {
        func message(_ body: () throws -> Void) -> String? {
            do { try body() } catch { return (error as? HomeError)?.message }
            return nil
        }
        typealias Live = Google.WebRtcLiveViewTrait
        typealias Push = Google.PushAvStreamTransportTrait
        #expect(message(Live.StartLiveViewCommand(offerSdp: "v=0").validate) == nil)
        #expect(
            message(Live.StartLiveViewCommand(offerSdp: "").validate)
                == "offerSdp is empty; it must contain the viewer's SDP offer")
        let press = Google.DoorbellPressTrait.DoorbellPressedEvent(
            complementaryToneId: String(repeating: "ü", count: 33))
        #expect(message(press.validate) == "complementaryToneId is longer than 64 bytes")
        let connections = [0, 65_535].map {
            Push.TransportConfigurationStruct(connectionID: $0, transportStatus: .active)
        }
        #expect(
            message(Push(attributes: .init(currentConnections: connections)).validate)
                == "currentConnections[1].connectionID is 65535; it must be from 0 to 65534")
    }

    @Test func traitsOfANewerGatewayAreLeftOut() throws {
        let json = #"{"TraitOfTomorrow":{"onOff":true},"WebRtcLiveView":{"supportedTalkbackType":"directly"}}"#
        let traits = try JSONDecoder().decode(TraitCollection.self, from: Data(json.utf8))
        let live = Google.WebRtcLiveViewTrait(attributes: .init(supportedTalkbackType: .directly))
        #expect(traits == TraitCollection([live]))
        #expect(traits != TraitCollection([Google.WebRtcLiveViewTrait()]))
    }

    @Test func everyCommandBelongsToItsTrait() {
        for command in Vocabulary.commands { #expect(command.trait.supportedCommandTypes.contains { $0 == command }) }
        let count = Vocabulary.traits.reduce(0) { $0 + $1.supportedCommandTypes.count }
        #expect(count == Vocabulary.commands.count)
    }
}
