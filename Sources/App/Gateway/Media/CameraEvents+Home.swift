import Cameras
import Foundation
import HomeTypes
import ONVIF
import Stations
import Transport

extension SensorReading {
    /// The reading that a reported event stands for; nil for what is not a reading of a sensor.
    init?(_ event: ReportedEvent) {
        let subject: Subject
        if event.type == .privacy { return nil }
        if let detection = event.type.detection {
            guard let kind = CameraDetection.Kind(rawValue: detection.rawValue) else { return nil }
            subject = .detection(kind)
        } else {
            subject = .button(
                ButtonPress(
                    toneID: event.complementaryToneId, seconds: event.doorbellPressTimeSeconds,
                    priority: event.priority))
        }
        self.init(subject: subject, sensor: "webhook#\(event.type.rawValue)", isActive: event.active)
    }
}

extension EventSourceStatus {
    /// The home's form of how a camera's subscription is.
    init(_ status: CameraEvents.Status) {
        switch status {
        case .unusable(let error): self.init(state: .stopped, reason: error.description)
        case .subscription(let status): self.init(status)
        }
    }

    init(_ status: ONVIFEventSource.Status) {
        let information = status.information
        switch status.state {
        case .idle, .connecting: self.init(state: .connecting)
        case .subscribed: self.init(state: .subscribed)
        case .backingOff(let seconds, let reason):
            self.init(
                state: .backingOff,
                trouble: SourceTrouble(reason.words, attempts: .next(seconds: Int(seconds.rounded(.up)))))
        case .stopped: self.init(state: .stopped)
        }
        manufacturer = information?.manufacturer
        model = information?.model
        func text(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        firmwareVersion = text(information?.firmwareVersion)
        serialNumber = text(information?.serialNumber)
        hardwareVersion = text(information?.hardwareID)
    }
}

extension DetectionEvent {
    /// The home's form of a camera's detection. `run` keeps the stays of several runs of the process apart.
    init?(_ detection: CameraDetection, run: String) {
        guard let kind = DetectionKind(rawValue: detection.kind.rawValue),
            let phase = Phase(rawValue: detection.phase.rawValue)
        else { return nil }
        self.init(
            kind: kind, phase: phase, eventSessionId: "\(run)-\(detection.stay)",
            cameraTimestamp: detection.cameraTime.map {
                Date(timeIntervalSince1970: Double($0.millisecondsSince1970) / 1000)
            })
    }
}

extension Google.DoorbellPressTrait.DoorbellPressedEvent {
    init(_ press: ButtonPress) {
        self.init(
            complementaryToneId: press.toneID, doorbellPressTimeSeconds: press.seconds, priority: press.priority)
    }
}
