import HomeTypes

/// Why a command of the cluster is refused. Nothing has changed then.
public enum TransportFault: Error, Hashable, Sendable {
    /// The command that names zones.
    public enum ZonePlace: Hashable, Sendable {
        /// One with options: `allocatePushTransport` or `modifyPushTransport`.
        case options
        /// `updateMotionZoneOptions`.
        case update
    }

    /// A value is outside of what the vocabulary permits.
    case constraint(HomeError)
    /// A chunk, in milliseconds, is longer than half a segment.
    case chunkTooLong(UInt16)

    // The trigger.

    /// A trigger by motion says nothing about zones.
    case noZones
    /// A trigger by motion has no durations.
    case noTimeControl
    /// The durations are new, and some of them are missing.
    case incompleteTimeControl
    /// A trigger by motion has no sensitivity, and the camera has one for all zones.
    case noSensitivity
    /// There is one sensitivity for all zones, and the camera has one for each.
    case sensitivityForAllZones(ZonePlace)
    /// A trigger of another kind has fields for motion.
    case fieldsForMotion(TransportTriggerType)
    /// A continuous recording has a pre-roll.
    case preRollOfContinuous
    /// The length of the pre-roll is missing.
    case noPreRoll
    /// The pre-roll, in milliseconds, is shorter than the time between the camera's key frames.
    case preRollTooShort(UInt16, keyFrameInterval: UInt16)

    // Zones.

    /// The zone at this position has no sensitivity, and the camera has one for each.
    case zoneWithoutSensitivity(Int, ZonePlace)
    /// The zone at this position has a sensitivity, and the camera has one for all.
    case zoneWithSensitivity(Int, ZonePlace)
    /// A zone occurs twice.
    case repeatedZone(ZonePlace)
    /// There are more zones than the camera has room for.
    case tooManyZones(Int, limit: Int, ZonePlace)
    /// The camera has no such zone.
    case unknownZone(UInt16, ZonePlace)

    // The container, and where it is sent.

    /// The options of the container are missing.
    case noContainerOptions
    /// A key comes without its identifier, or the other way round.
    case incompleteKey
    /// The camera records no metadata.
    case noMetadata
    /// Recordings are not encrypted.
    case noEncryption
    /// A segment, in milliseconds, does not hold whole groups of pictures.
    case unevenSegment(UInt16, keyFrameInterval: UInt16)
    /// The container cannot be sent with this method.
    case combination
    /// No such TLS endpoint has been provisioned.
    case unknownEndpoint(UInt16)
    /// The address cannot be used.
    case url(TransportURLProblem)

    // Streams.

    /// The streams are named in both forms.
    case bothStreamForms
    /// The streams are named in neither form.
    case noStreams
    /// Both lists of streams are empty.
    case emptyStreamLists
    /// A stream or its name occurs twice.
    case repeatedStream
    /// A picture and a sound have the same name.
    case sameStreamNames
    /// The name of a stream cannot be the name of a folder.
    case streamName(String)
    /// There are several pictures or sounds.
    case severalStreams
    /// The camera has no such video stream.
    case unknownVideoStream(UInt16)
    /// The camera has no such audio stream.
    case unknownAudioStream(UInt16)
    /// No video stream can be chosen, because the camera has not described itself.
    case noVideoStreamYet
    /// No audio stream can be chosen, because the camera has not described itself.
    case noAudioStreamYet
    /// The camera's priorities do not contain the usage.
    case usageWithoutPriority(StreamUsage)
    /// A usage occurs twice among priorities.
    case repeatedUsage
    /// The camera has no streams for the usage.
    case usageNotOffered(StreamUsage)

    // The connection.

    /// No connection that the caller may see has the identifier.
    case unknownConnection(UInt16)
    /// The camera has as many connections as it can have.
    case tooManyConnections(Int)
    /// Something was to be changed that is fixed in the camera's own connection.
    case ownConnectionIsFixed(UInt16)
    /// The camera's own connection was to be removed.
    case ownConnectionStays(UInt16)
    /// A lifetime needs the time of day, and the clock is not set.
    case clockNotSet
    /// The status is neither of the two.
    case unknownStatus
    /// The connection was to become active in privacy mode.
    case privacyForbidsActivation(UInt16)
    /// Something was to be recorded in privacy mode.
    case privacyForbidsRecording
    /// The connection was to record, and is inactive.
    case inactive(UInt16)
    /// The connection was to be triggered, and records all the time.
    case recordsAllTheTime(UInt16)
    /// Neither the connection nor the command has durations.
    case noDurations(UInt16)
    /// The connection has no trigger by motion.
    case noMotionTrigger(UInt16)

    // The service.

    /// The home has no such camera.
    case unknownDevice(String)
    /// The gateway records nothing.
    case nothingIsRecorded
    /// The disk did not take the change.
    case notKept(RecordingFault)
}
