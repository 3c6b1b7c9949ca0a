import GoogleHomeSDK
import GoogleHomeTypes

// The settings of a camera's recordings, as apps read and write them.

extension CameraApp {
    /// The connection that records.
    func recordingConnection() async throws -> Google.PushAvStreamTransportTrait.TransportConfigurationStruct? {
        try await pushAvStreamTransportTrait?.findTransport().transportConfigurations.first {
            $0.transportOptions?.streamUsage == .recording
        }
    }

    /// Writes how little motion wakes the camera, and how long a recording is at most. What is nil stays as it is.
    func changeRecording(sensitivity: UInt8?, longest: UInt32?) async throws {
        typealias Push = Google.PushAvStreamTransportTrait
        guard let connection = try await recordingConnection(), let options = connection.transportOptions else {
            throw HomeError.notFound("this camera records nothing")
        }
        let old = options.triggerOptions.motionTimeControl
        let time = longest.map {
            Push.TransportMotionTriggerTimeControlStruct(
                initialDuration: old?.initialDuration ?? 10, augmentationDuration: old?.augmentationDuration ?? 5,
                maxDuration: $0, blindDuration: old?.blindDuration ?? 0)
        }
        try await pushAvStreamTransportTrait?.modifyPushTransport(
            connectionID: connection.connectionID,
            transportOptions: Push.TransportOptionsStruct(
                streamUsage: options.streamUsage, videoStreamID: nil, audioStreamID: nil,
                tlsEndpointID: options.tlsEndpointID, url: options.url,
                triggerOptions: Push.TransportTriggerOptionsStruct(
                    triggerType: options.triggerOptions.triggerType, motionZones: nil,
                    motionSensitivity: sensitivity, motionTimeControl: time, maxPreRollLen: nil),
                ingestMethod: options.ingestMethod,
                containerOptions: Push.ContainerOptionsStruct(
                    containerType: options.containerOptions.containerType, cmafContainerOptions: nil),
                expiryTime: nil))
    }
}
