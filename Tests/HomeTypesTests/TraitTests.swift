import Foundation
import HomeTypes
import Synchronization
import Testing

/// A vendor's trait, written by hand outside the package.
enum HandmadeVendor {
    struct SpinnerTrait: HomeTypes.Trait {
        static let identifier = "home.matter.fff2.clusters.fc00"
        static let name = "HandmadeVendor.Spinner"
        static let supportedCommandTypes: [any Command.Type] = [SpinCommand.self]
        static let supportedEventTypes: [any Event.Type] = []

        struct Attributes: TraitAttributes {
            @Attribute var rpm: UInt16?
            @Attribute var onOff: Bool?
            static let names = ["rpm", "onOff"]

            init() {}

            mutating func merge(_ newer: Self) {
                _rpm.merge(newer._rpm)
                _onOff.merge(newer._onOff)
            }
        }

        struct SpinCommand: Command {
            static let trait: any HomeTypes.Trait.Type = SpinnerTrait.self
            static let name = "spin"
            static let id: UInt32 = 0
            var rpm: UInt16
        }

        var attributes: Attributes
        let metadata: TraitMetadata
        let interaction: (any TraitInteraction)?
    }
}

/// Takes commands and updates, and answers with what it was given.
private final class RecordingInteraction: TraitInteraction {
    let sent = Mutex<[String]>([])
    let answer: Result<String, HomeError>

    init(answer: Result<String, HomeError> = .success("{}")) { self.answer = answer }

    func send(_ command: any Command.Type, parameters: Data) async throws(HomeError) -> Data {
        let text = String(decoding: parameters, as: UTF8.self)
        sent.withLock { $0.append("\(command.trait.name).\(command.name) \(text)") }
        return Data(try answer.get().utf8)
    }

    func update(_ trait: any HomeTypes.Trait.Type, attributes: Data) async throws(HomeError) -> Data {
        sent.withLock { $0.append("\(trait.name) \(String(decoding: attributes, as: UTF8.self))") }
        return Data(try answer.get().utf8)
    }
}

@Suite struct TraitTests {
    private typealias Live = Google.WebRtcLiveViewTrait
    private typealias Streams = Google.CameraAvStreamManagementTrait

    private func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    private func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test func `an attribute is supported, null or absent`() throws {
        let absent = try read(Live.self, "{}")
        #expect(!absent.attributes.$supportedTalkbackType.isSupported)
        #expect(absent.supportedTalkbackType == nil)
        let null = try read(Live.self, #"{"supportedTalkbackType":null}"#)
        #expect(null.attributes.$supportedTalkbackType.isSupported)
        #expect(null.supportedTalkbackType == nil)
        #expect(null != absent)
        #expect(try text(null) == #"{"supportedTalkbackType":null}"#)
        #expect(try text(absent) == "{}")
    }

    @Test func `a supported attribute that is set to nil stays supported`() {
        var attributes = Live.Attributes(supportedTalkbackType: .directly)
        attributes.supportedTalkbackType = nil
        #expect(attributes.$supportedTalkbackType.isSupported)
        attributes.$supportedTalkbackType = .unsupported
        attributes.supportedTalkbackType = nil
        #expect(!attributes.$supportedTalkbackType.isSupported)
    }

    @Test func `a trait forwards to its attributes`() {
        var trait = Live(attributes: .init(supportedTalkbackType: .directly))
        #expect(trait.supportedTalkbackType == .directly)
        trait.supportedTalkbackType = .renegotiation
        #expect(trait.attributes.supportedTalkbackType == .renegotiation)
    }

    @Test func `equality looks at attributes and metadata, and not at the connection`() {
        let online = TraitMetadata(
            sourceConnectivity: .init(connectivityState: .online, dataSourceLocality: .localPeer))
        #expect(Live() == Live(interaction: RecordingInteraction()))
        #expect(Live() != Live(metadata: online))
        #expect(Live() != Live(attributes: .init(supportedTalkbackType: .directly)))
    }

    @Test func `a partial report changes only what it contains`() throws {
        var attributes = Streams.Attributes(softRecordingPrivacyModeEnabled: true, hardPrivacyModeOn: false)
        attributes.merge(try read(Streams.Attributes.self, #"{"hardPrivacyModeOn":true,"streamUsagePriorities":null}"#))
        #expect(attributes.softRecordingPrivacyModeEnabled == true)
        #expect(attributes.hardPrivacyModeOn == true)
        #expect(attributes.$streamUsagePriorities.isSupported)
        #expect(!attributes.$softLivestreamPrivacyModeEnabled.isSupported)

        var traits = TraitCollection([Streams(attributes: attributes), Live()])
        traits.merge(TraitCollection([Streams(attributes: .init(softRecordingPrivacyModeEnabled: false))]))
        #expect(traits[Streams.self]?.softRecordingPrivacyModeEnabled == false)
        #expect(traits[Streams.self]?.hardPrivacyModeOn == true)
        #expect(traits.contains(Live.self))
    }

    @Test func `a command goes through the connection of its trait`() async throws {
        let interaction = RecordingInteraction(
            answer: .success(#"{"mediaSessionId":"s","answerSdp":"a","liveSessionDurationSeconds":300}"#))
        let trait = Live(interaction: interaction)
        let started = try await trait.startLiveView(offerSdp: "v=0") { $0.setQualityHint(.hd) }
        #expect(started.liveSessionDurationSeconds == 300)
        #expect(
            interaction.sent.withLock { $0 }
                == [#"WebRtcLiveView.startLiveView {"qualityHint":"hd","offerSdp":"v=0"}"#]
                || interaction.sent.withLock { $0 }
                    == [#"WebRtcLiveView.startLiveView {"offerSdp":"v=0","qualityHint":"hd"}"#]
        )
    }

    @Test func `a command as a value is the one that the method sends`() throws {
        let command = Live.startLiveView(offerSdp: "v=0") { $0.setQualityHint(.uhd) }
        #expect(command == Live.StartLiveViewCommand(offerSdp: "v=0", qualityHint: .uhd))
        typealias Push = Google.PushAvStreamTransportTrait
        #expect(Push.setTransportStatus(transportStatus: .active).connectionID == .none)
        let all = Push.setTransportStatus(transportStatus: .active) { $0.setConnectionID(nil) }
        #expect(all.connectionID == .some(nil))
    }

    @Test func `a trait without a device takes no commands`() async {
        await #expect(throws: HomeError.self) { try await Live().stopLiveView(mediaSessionId: "s") }
        do { try await Live().stopLiveView(mediaSessionId: "s") } catch {
            #expect((error as? HomeError)?.code == .failedPrecondition)
        }
    }

    @Test func `a value that this version does not know is not sent`() async throws {
        let interaction = RecordingInteraction()
        let trait = Live(interaction: interaction)
        do {
            try await trait.changeLiveViewQuality(mediaSessionId: "s", qualityHint: .unrecognized_)
            Issue.record("it was sent")
        } catch {
            #expect((error as? HomeError)?.code == .invalidArgument)
            #expect((error as? HomeError)?.message.hasPrefix("qualityHint: expected one of unspecified, sd") == true)
        }
        #expect(interaction.sent.withLock { $0 }.isEmpty)
        #expect(throws: HomeError.self) {
            try Streams.setStreamPriorities(streamPriorities: [.recording, .unrecognized_]).validate()
        }
    }

    @Test func `24 o'clock ends a day, and no time is later`() throws {
        typealias Time = Google.TimeTrait.TimeOfDay
        for time in [
            Time(hours: 24, minutes: 0), Time(hours: 24, minutes: 0, seconds: 0, nanos: 0), Time(hours: 0, minutes: 30),
            Time(hours: 23, minutes: 59, seconds: 59, nanos: 999_999_999),
        ] {
            #expect(throws: Never.self) { try time.validate() }
        }
        for time in [
            Time(hours: 24, minutes: 30), Time(hours: 24, minutes: 0, seconds: 1),
            Time(hours: 24, minutes: 0, seconds: 0, nanos: 1), Time(hours: 25, minutes: 0),
        ] {
            #expect(throws: HomeError.self) { try time.validate() }
        }
        let event = Google.TimeTrait.ScheduledEvent(clockTime: Time(hours: 24, minutes: 30))
        let error = #expect(throws: HomeError.self) { try event.validate() }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message == "clockTime.hours is 24; what comes after it must be 0 or absent then")
        // The recorded range is that of the hours.
        let ranges = Constraint.ranges(of: Time(hours: 24, minutes: 30))
        #expect(ranges["hours"] == NumberRange(lower: .integer(0), upper: .integer(24)))
    }

    @Test func `an update writes what was set, and returns the attributes`() async throws {
        let interaction = RecordingInteraction(answer: .success(#"{"softLivestreamPrivacyModeEnabled":true}"#))
        let trait = Streams(attributes: .init(hardPrivacyModeOn: true), interaction: interaction)
        let written = try await trait.update { $0.setSoftLivestreamPrivacyModeEnabled(true) }
        #expect(written.softLivestreamPrivacyModeEnabled == true)
        #expect(written.hardPrivacyModeOn == true)
        #expect(trait.softLivestreamPrivacyModeEnabled == nil)
        #expect(
            interaction.sent.withLock { $0 }
                == [#"CameraAvStreamManagement {"softLivestreamPrivacyModeEnabled":true}"#])
        #expect(Streams.writableAttributes.contains("softRecordingPrivacyModeEnabled"))
        #expect(!Streams.writableAttributes.contains("hardPrivacyModeOn"))
    }

    @Test func `a device lists the commands that it accepts`() {
        #expect(Live().supportsStartTalkbackCommand)
        #expect(!Live(attributes: .init(acceptedCommandList: [0, 1, 2])).supportsStartTalkbackCommand)
        #expect(Live(attributes: .init(acceptedCommandList: [3])).supportsStartTalkbackCommand)
    }

    @Test func `every trait has Matter's global attributes`() throws {
        let global: Set = [
            "clusterRevision", "featureMap", "attributeList", "acceptedCommandList", "generatedCommandList",
        ]
        for trait in Vocabulary.traits { #expect(global.isSubset(of: trait.attributeNames), "\(trait)") }
        let json =
            #"{"attributeList":[0,65533],"clusterRevision":6,"featureMap":1,"generatedCommandList":[],"onOff":true}"#
        let trait = try JSONDecoder().decode(Matter.OnOffTrait.self, from: Data(json.utf8))
        #expect(trait.clusterRevision == 6 && trait.attributeList == [0, 65_533] && trait.generatedCommandList == [])
        #expect(trait.featureMap == .init(rawValue: 1) && !trait.attributes.$acceptedCommandList.isSupported)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(trait), as: UTF8.self) == json)
    }

    @Test func `an event's JSON is its fields alone`() throws {
        typealias Press = Matter.SwitchTrait.InitialPressEvent
        var press = Press(newPosition: 3)
        press.metadata = EventMetadata(timestamp: 7)
        #expect(press.timestamp == 7 && press.importance == .info && Press.importance == .info)
        let json = try JSONEncoder().encode(press)
        #expect(String(decoding: json, as: UTF8.self) == #"{"newPosition":3}"#)
        #expect(try JSONDecoder().decode(Press.self, from: json) == Press(newPosition: 3))
        #expect(Matter.DoorLockTrait.DoorLockAlarmEvent.importance == .critical)
    }

    @Test func `a vendor's trait is a trait like any other`() async throws {
        typealias Spinner = HandmadeVendor.SpinnerTrait
        let json = #"{"HandmadeVendor.Spinner":{"rpm":33},"WebRtcLiveView":{}}"#
        Vocabulary.register(Spinner.self)
        let traits = try read(TraitCollection.self, json)
        #expect(traits[Spinner.self]?.attributes.rpm == 33)
        #expect(traits[Spinner.self]?.rpm == 33)
        #expect(traits[Spinner.self]?.attributes.$onOff.isSupported == false)
        #expect(try read(TraitCollection.self, try text(traits)) == traits)
        let interaction = RecordingInteraction()
        let spinner = Spinner(attributes: .init(), metadata: .init(), interaction: interaction)
        try await spinner.sendCommand(Spinner.SpinCommand(rpm: 45))
        #expect(interaction.sent.withLock { $0 } == [#"HandmadeVendor.Spinner.spin {"rpm":45}"#])
    }

    @Test func `a device type needs its traits`() throws {
        let traits = TraitCollection([Live(), Google.PushAvStreamTransportTrait()])
        let camera = try GoogleCameraDeviceType(traits: traits, metadata: .init(isPrimaryType: true))
        #expect(camera.metadata.isPrimaryType)
        #expect(camera.googleTraits.webRtcLiveViewTrait == Live())
        #expect(throws: HomeError.self) {
            try GoogleCameraDeviceType(traits: TraitCollection([Live()]), metadata: .init())
        }
    }
}
