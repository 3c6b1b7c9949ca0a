/// What a camera's message is about.
public enum DetectionSubject: String, Sendable, CaseIterable {
    /// A doorbell's button.
    case button
    /// A contact on the device, which at a doorbell is usually the button.
    case digitalInput
    /// Something moves.
    case motion
    /// A person.
    case person
    /// A face.
    case face
    /// A vehicle, for example a car or a bicycle.
    case vehicle
    /// A dog, a cat or another animal.
    case animal
    /// A package.
    case package
    /// A sound.
    case sound
}

/// What one message says about one subject.
public struct DetectionReading: Sendable, Equatable {
    /// What it is about.
    public var subject: DetectionSubject
    /// Whether it is present now; nil for an event without a state.
    public var isActive: Bool?

    /// Makes a reading.
    public init(subject: DetectionSubject, isActive: Bool?) {
        self.subject = subject
        self.isActive = isActive
    }
}

extension ONVIFNotification {
    /// What the message says; empty for topics that do not concern a doorbell or camera gateway.
    ///
    /// Known topics are in a table. Makers invent new ones with each firmware. So a topic that is not in the table is
    /// judged by the words of its last two parts, within the families of topics that detections come from.
    public var readings: [DetectionReading] {
        let path = topic.map { $0.lowercased() }
        guard let fallback = Self.subject(of: path) else { return [] }
        var readings: [DetectionReading] = []
        var unnamed: Bool?
        for item in data {
            guard let value = Self.truth(of: item.value) else { continue }
            // Items such as `IsPeople` say more than their topic: Tapo uses one topic for people, pets and cars.
            if let subject = Self.itemSubjects[item.name.lowercased()] {
                // Two items may name one subject (`IsPet` and `IsDog`): it is enough that one of them is true.
                if let index = readings.firstIndex(where: { $0.subject == subject }) {
                    if value { readings[index].isActive = true }
                } else {
                    readings.append(DetectionReading(subject: subject, isActive: value))
                }
            } else if unnamed == nil || Self.stateNames.contains(item.name.lowercased()) {
                unnamed = value
            }
        }
        if readings.isEmpty { readings = [DetectionReading(subject: fallback, isActive: unnamed)] }
        return readings
    }

    /// The items that hold the state where several items of a message are true or false.
    private static let stateNames: Set<String> = ["state", "logicalstate", "active", "isactive", "value"]

    private static let itemSubjects: [String: DetectionSubject] = [
        "ismotion": .motion, "ispeople": .person, "isperson": .person, "ishuman": .person, "isface": .face,
        "isvehicle": .vehicle, "iscar": .vehicle, "ispet": .animal, "isanimal": .animal, "isdog": .animal,
        "iscat": .animal, "ispackage": .package, "issounddetected": .sound, "issound": .sound, "isbabycry": .sound,
        "isring": .button, "isdoorbell": .button, "isvisitor": .button,
    ]

    /// Topics of the standard and of makers, without the prefixes of their parts, in lower case.
    private static let topics: [String: DetectionSubject] = [
        // ONVIF's own topics, and those that nearly every maker sends.
        "videosource/motionalarm": .motion,
        "ruleengine/cellmotiondetector/motion": .motion,
        "ruleengine/motionregiondetector/motion": .motion,
        "ruleengine/fielddetector/objectsinside": .motion,
        "ruleengine/linedetector/crossed": .motion,
        "ruleengine/peopledetector/people": .person,
        "ruleengine/facedetector": .face,
        "ruleengine/recognition/face": .face,
        "audioanalytics/audio/detectedsound": .sound,
        "device/trigger/digitalinput": .digitalInput,
        // Reolink, and firmware that follows it.
        "ruleengine/myruledetector/visitor": .button,
        "ruleengine/myruledetector/peopledetect": .person,
        "ruleengine/myruledetector/facedetect": .face,
        "ruleengine/myruledetector/vehicledetect": .vehicle,
        "ruleengine/myruledetector/non_motor_vehicledetect": .vehicle,
        "ruleengine/myruledetector/dogcatdetect": .animal,
        "ruleengine/myruledetector/package": .package,
        // Tapo and Vigi.
        "ruleengine/cellmotiondetector/people": .person,
        "ruleengine/cellmotiondetector/linecross": .motion,
        "ruleengine/cellmotiondetector/intrusion": .motion,
        "ruleengine/cellmotiondetector/tpsmartevent": .motion,
        "ruleengine/tpsmarteventdetector/tpsmartevent": .motion,
        "ruleengine/babycrydetector/babycry": .sound,
        // Axis.
        "device/sensor/pir": .motion,
        "device/io/port": .digitalInput,
        "device/io/virtualinput": .digitalInput,
        "audiosource/triggerlevel": .sound,
        // Hanwha (Samsung).
        "videoanalytics/motiondetection": .motion,
        "audioanalytics/sounddetection": .sound,
    ]

    /// The families in which unknown topics are judged by their words.
    private static let families: Set<String> = [
        "ruleengine", "videosource", "videoanalytics", "audioanalytics", "audiosource", "device", "useralarm",
        "doorbell", "doorstation", "intercom", "cameraapplicationplatform",
    ]

    /// Words in the order of the search: the more specific ones come first.
    private static let words: [(word: String, subject: DetectionSubject)] = [
        ("doorbell", .button), ("visitor", .button), ("callbutton", .button), ("buttonpress", .button),
        ("bellpress", .button), ("callnoanswer", .button), ("ringbutton", .button),
        ("package", .package), ("parcel", .package), ("face", .face),
        ("people", .person), ("person", .person), ("human", .person), ("pedestrian", .person),
        ("vehicle", .vehicle), ("dogcat", .animal), ("animal", .animal), ("pet", .animal),
        ("babycry", .sound), ("sound", .sound), ("audioalarm", .sound), ("scream", .sound),
        ("motion", .motion), ("intrusion", .motion), ("objectsinside", .motion), ("linecross", .motion),
        ("loitering", .motion),
    ]

    private static func subject(of path: [String]) -> DetectionSubject? {
        guard let family = path.first else { return nil }
        if let known = topics[path.joined(separator: "/")] { return known }
        guard families.contains(family) else { return nil }
        let tail = path.suffix(2).joined(separator: "/")
        // A detector's fault is not a detection.
        guard !tail.contains("fail"), !tail.contains("tamper"), !tail.contains("counter") else { return nil }
        return words.first { tail.contains($0.word) }?.subject
    }

    private static func truth(of value: String) -> Bool? {
        switch value.lowercased() {
        case "true", "1", "active", "on", "yes": true
        case "false", "0", "inactive", "off", "no": false
        default: nil
        }
    }
}
