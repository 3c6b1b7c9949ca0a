import Testing
import Transport

@testable import ONVIF

@Suite struct NotificationTests {
    func notification(_ text: String) throws -> ONVIFNotification {
        try #require(EventService.notifications(try SOAPEnvelope.body(of: Answers.pull(text))).first)
    }

    func readings(
        _ topic: String, _ data: [(String, String)], source: [(String, String)] = [("Source", "000")]
    ) throws -> [DetectionReading] {
        try notification(Answers.notification(topic, source: source, data: data)).readings
    }

    @Test(arguments: [
        ("tns1:VideoSource/MotionAlarm", "State", DetectionSubject.motion),
        ("tns1:RuleEngine/CellMotionDetector/Motion", "IsMotion", .motion),
        ("tns1:RuleEngine/MotionRegionDetector/Motion", "State", .motion),
        ("tns1:RuleEngine/FieldDetector/ObjectsInside", "IsInside", .motion),
        ("tns1:RuleEngine/MyRuleDetector/Visitor", "State", .button),
        ("tns1:RuleEngine/MyRuleDetector/PeopleDetect", "State", .person),
        ("tns1:RuleEngine/MyRuleDetector/FaceDetect", "State", .face),
        ("tns1:RuleEngine/MyRuleDetector/VehicleDetect", "State", .vehicle),
        ("tns1:RuleEngine/MyRuleDetector/DogCatDetect", "State", .animal),
        ("tns1:RuleEngine/MyRuleDetector/Package", "State", .package),
        ("tns1:RuleEngine/PeopleDetector/People", "IsPeople", .person),
        ("tns1:RuleEngine/TPSmartEventDetector/TPSmartEvent", "IsVehicle", .vehicle),
        ("tns1:RuleEngine/TPSmartEventDetector/TPSmartEvent", "IsPet", .animal),
        ("tns1:RuleEngine/CellMotionDetector/People", "IsPeople", .person),
        ("tns1:AudioAnalytics/Audio/DetectedSound", "isSoundDetected", .sound),
        ("tns1:AudioAnalytics/tnssamsung:SoundDetection", "State", .sound),
        ("tns1:VideoAnalytics/tnssamsung:MotionDetection", "State", .motion),
        ("tns1:Device/Trigger/DigitalInput", "LogicalState", .digitalInput),
        ("tns1:Device/tnsaxis:Sensor/PIR", "state", .motion),
        ("tns1:Device/tnsaxis:IO/VirtualInput", "active", .digitalInput),
        ("onvif:RuleEngine/hik:HumanBodyDetector/HumanDetected", "State", .person),
        ("tns1:Device/tnshik:DoorBell/Ringing", "State", .button),
    ])
    func topicsOfManyMakersAreUnderstood(topic: String, item: String, subject: DetectionSubject) throws {
        for (value, isActive) in [("true", true), ("false", false), ("1", true), ("0", false)] {
            #expect(try readings(topic, [(item, value)]) == [DetectionReading(subject: subject, isActive: isActive)])
        }
    }

    @Test func otherNotificationsAreIgnored() throws {
        for topic in [
            "tns1:VideoSource/ImageTooDark/AnalyticsService", "tns1:Device/HardwareFailure/StorageFailure",
            "tns1:Monitoring/ProcessorUsage", "tns1:RuleEngine/TamperDetector/Tamper", "tns1:Media/ProfileChanged",
            "tns1:RecordingConfig/JobState", "tns1:Device/Trigger/Relay", "x", "tns1:PTZController/PTZPresets/Motion",
        ] { #expect(try readings(topic, [("State", "true")]).isEmpty, "\(topic)") }
    }

    @Test func oneMessageMayReportSeveralSubjects() throws {
        let readings = try readings(
            "tns1:RuleEngine/TPSmartEventDetector/TPSmartEvent",
            [("IsTPSmartEvent", "true"), ("IsPeople", "true"), ("IsPet", "false"), ("IsDog", "true")])
        #expect(readings.map(\.subject) == [.person, .animal])
        #expect(readings.map(\.isActive) == [true, true])
    }

    @Test func crossingALineIsAMomentaryEvent() throws {
        let readings = try readings("tns1:RuleEngine/LineDetector/Crossed", [("ObjectId", "15")])
        #expect(readings == [DetectionReading(subject: .motion, isActive: nil)])
    }

    @Test func timeOperationAndSourceAreRead() throws {
        let message = try notification(
            Answers.notification(
                "tns1:RuleEngine/CellMotionDetector/Motion", operation: "Initialized",
                source: [("Rule", "r"), ("VideoSourceConfigurationToken", "v")], data: [("IsMotion", "true")]))
        #expect(message.operation == .initialized)
        #expect(message.time?.xmlDateTime == "2024-03-12T00:45:48.000Z")
        #expect(message.key == "RuleEngine/CellMotionDetector/Motion/Rule=r/VideoSourceConfigurationToken=v")
        // Hikvision before its clock is set.
        let timeless = try notification(
            Answers.notification(
                "tns1:VideoSource/MotionAlarm", operation: nil, data: [("State", "1")], time: "0000-00-00T00:00:00Z"))
        #expect(timeless.time == nil)
        #expect(timeless.operation == nil)
    }

    @Test func aMessageWithoutTheOuterElementIsReadToo() throws {
        let text = """
            <wsnt:NotificationMessage><wsnt:Topic>tns1:VideoSource/MotionAlarm</wsnt:Topic><tt:Message \
            UtcTime="2024-03-12T00:45:48Z" PropertyOperation="Changed"><tt:Data><tt:SimpleItem Name="State" \
            Value="true"/></tt:Data></tt:Message></wsnt:NotificationMessage>
            """
        #expect(try notification(text).readings == [DetectionReading(subject: .motion, isActive: true)])
    }
}
