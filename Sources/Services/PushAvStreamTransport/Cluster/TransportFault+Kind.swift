import HomeTypes

extension TransportFault {
    /// What is wrong, in Matter's terms.
    public enum Kind: Sendable, CaseIterable {
        // Statuses of the interaction model.
        case constraintError, invalidCommand, notFound, alreadyExists, dynamicConstraintError, invalidInState
        case resourceExhausted
        // Statuses of the cluster.
        case invalidTLSEndpoint, invalidStream, invalidURL, invalidZone, invalidCombination, invalidTriggerType
        case invalidTransportStatus, invalidOptions, invalidStreamUsage, invalidTime, invalidPreRollLength
        case duplicateStreamValues
        /// The camera's own connection cannot be deallocated. Matter has no such connection.
        case permanentConnection
        /// The disk did not take the change. Matter has no such status either.
        case notKept
    }

    /// What is wrong, in Matter's terms.
    public var kind: Kind {
        switch self {
        case .constraint, .chunkTooLong, .streamName, .unknownStatus: .constraintError
        case .noZones, .noTimeControl, .incompleteTimeControl, .noSensitivity, .sensitivityForAllZones,
            .fieldsForMotion, .preRollOfContinuous, .noPreRoll, .zoneWithoutSensitivity, .zoneWithSensitivity,
            .noContainerOptions, .incompleteKey, .noMetadata, .noEncryption, .bothStreamForms, .noStreams:
            .invalidCommand
        case .unknownConnection, .unknownDevice: .notFound
        case .repeatedZone, .repeatedUsage: .alreadyExists
        case .tooManyZones, .usageNotOffered, .noDurations: .dynamicConstraintError
        case .noVideoStreamYet, .noAudioStreamYet, .privacyForbidsActivation, .privacyForbidsRecording,
            .nothingIsRecorded:
            .invalidInState
        case .severalStreams, .tooManyConnections: .resourceExhausted
        case .unknownEndpoint: .invalidTLSEndpoint
        case .emptyStreamLists, .sameStreamNames, .unknownVideoStream, .unknownAudioStream: .invalidStream
        case .url: .invalidURL
        case .unknownZone: .invalidZone
        case .combination: .invalidCombination
        case .recordsAllTheTime, .noMotionTrigger: .invalidTriggerType
        case .inactive: .invalidTransportStatus
        case .unevenSegment: .invalidOptions
        case .usageWithoutPriority: .invalidStreamUsage
        case .clockNotSet: .invalidTime
        case .preRollTooShort: .invalidPreRollLength
        case .repeatedStream: .duplicateStreamValues
        case .ownConnectionIsFixed, .ownConnectionStays: .permanentConnection
        case .notKept: .notKept
        }
    }
}

extension TransportFault.Kind {
    /// The status of the interaction model (Matter core specification, section 8.10.1). Statuses of the cluster come
    /// with `FAILURE`.
    public var matterStatus: Int {
        switch self {
        case .constraintError: 0x87
        case .invalidCommand: 0x85
        case .notFound: 0x8B
        case .alreadyExists: 0xD0
        case .dynamicConstraintError: 0xCF
        case .invalidInState, .permanentConnection: 0xCB
        case .resourceExhausted: 0x89
        default: 0x01
        }
    }

    /// The cluster's own status; nil where the interaction model's says everything.
    public var clusterStatus: Google.PushAvStreamTransportTrait.StatusCodeEnum? {
        switch self {
        case .invalidTLSEndpoint: .invalidTLSEndpoint
        case .invalidStream: .invalidStream
        case .invalidURL: .invalidURL
        case .invalidZone: .invalidZone
        case .invalidCombination: .invalidCombination
        case .invalidTriggerType: .invalidTriggerType
        case .invalidTransportStatus: .invalidTransportStatus
        case .invalidOptions: .invalidOptions
        case .invalidStreamUsage: .invalidStreamUsage
        case .invalidTime: .invalidTime
        case .invalidPreRollLength: .invalidPreRollLength
        case .duplicateStreamValues: .duplicateStreamValues
        default: nil
        }
    }

    /// The code at the home's API.
    public var code: HomeError.Code {
        switch self {
        case .constraintError, .invalidCommand, .invalidURL, .invalidOptions, .invalidCombination, .invalidStream,
            .invalidZone, .invalidStreamUsage, .invalidTLSEndpoint, .invalidPreRollLength, .duplicateStreamValues:
            .invalidArgument
        case .dynamicConstraintError: .outOfRange
        case .notFound: .notFound
        case .alreadyExists: .alreadyExists
        case .invalidInState, .invalidTransportStatus, .invalidTriggerType, .invalidTime, .permanentConnection:
            .failedPrecondition
        case .resourceExhausted: .resourceExhausted
        case .notKept: .unavailable
        }
    }
}

extension HomeError {
    /// The home's error for a refusal of the cluster.
    public init(_ fault: TransportFault) {
        self.init(
            fault.kind.code, fault.words,
            subtype: .matter(
                MatterError(
                    code: fault.kind.matterStatus, clusterCode: fault.kind.clusterStatus.map { Int($0.number) })))
    }
}
