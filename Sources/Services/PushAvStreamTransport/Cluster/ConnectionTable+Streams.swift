import HomeTypes

/// The two forms in which options name streams: ids (revision 1) and lists with names (revision 2).
extension ConnectionTable {
    /// Checks the streams, chooses those that are null, and fills both forms.
    func resolveStreams(_ options: inout TransportOptions, at path: String) throws(TransportFault) {
        if options.videoStreams != nil || options.audioStreams != nil {
            try checkLists(options, at: path)
        } else {
            try resolveIDs(&options, at: path)
        }
        options.fillBothForms()
    }

    private func checkLists(_ options: TransportOptions, at path: String) throws(TransportFault) {
        let video = options.videoStreams ?? [], audio = options.audioStreams ?? []
        func isUnique<Value: Hashable>(_ values: [Value]) -> Bool { Set(values).count == values.count }
        guard isUnique(video.map(\.videoStreamName)), isUnique(video.map(\.videoStreamID)),
            isUnique(audio.map(\.audioStreamName)), isUnique(audio.map(\.audioStreamID))
        else { throw TransportFault(.duplicateStreamValues, "\(path): a stream or its name occurs twice") }
        // As for files: where names differ in their case only, some file systems see one.
        let pictures = Set(video.map { $0.videoStreamName.lowercased() })
        guard pictures.isDisjoint(with: audio.map { $0.audioStreamName.lowercased() }) else {
            throw TransportFault(.invalidStream, "\(path): a picture and a sound have the same name")
        }
        guard !video.isEmpty || !audio.isEmpty else {
            throw TransportFault(.invalidStream, "\(path) names no streams: both lists are empty")
        }
        // Names become parts of paths and file names.
        for name in video.map(\.videoStreamName) + audio.map(\.audioStreamName) {
            try Self.checkName(name, at: path)
        }
        for one in video { try requireVideo(one.videoStreamID, at: path) }
        for one in audio { try requireAudio(one.audioStreamID, at: path) }
        // A list that is accepted and of which one picture is recorded would promise what is not done.
        guard video.count <= 1, audio.count <= 1 else {
            throw TransportFault(
                .resourceExhausted,
                "\(path) names several pictures or sounds; a connection records one of each, so allocate a connection for each"
            )
        }
    }

    /// A track's name may be anything of 1 to 16 bytes in Matter. Here it must be able to be a folder's name.
    private static func checkName(_ name: String, at path: String) throws(TransportFault) {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isPlain, !name.hasPrefix(".") else {
            throw TransportFault(
                .constraintError,
                "\(path): the stream name \(name.debugDescription) may hold letters, digits, - _ and . only, "
                    + "and must not begin with a dot")
        }
    }

    private func resolveIDs(_ options: inout TransportOptions, at path: String) throws(TransportFault) {
        if let id = options.videoStreamID {
            if let id {
                try requireVideo(id, at: path)
            } else {
                options.videoStreamID = .some(
                    try chosen(streams.chosenVideo(for: options.streamUsage), "videoStreamID", at: path))
            }
        }
        if let id = options.audioStreamID {
            if let id {
                try requireAudio(id, at: path)
            } else if let chosen = streams.audio.first?.id {
                options.audioStreamID = .some(chosen)
            } else if streams.video.isEmpty || options.videoStreamID == nil {
                throw Self.nothingAllocated("audioStreamID", at: path)
            } else {
                // A camera without sound: the picture alone is recorded.
                options.audioStreamID = nil
            }
        }
    }

    private func chosen(_ id: UInt16?, _ field: String, at path: String) throws(TransportFault) -> UInt16 {
        guard let id else { throw Self.nothingAllocated(field, at: path) }
        return id
    }

    private static func nothingAllocated(_ field: String, at path: String) -> TransportFault {
        TransportFault(
            .invalidInState,
            "\(path).\(field): no such stream can be chosen yet, because the camera has not described itself")
    }

    private func requireVideo(_ id: UInt16, at path: String) throws(TransportFault) {
        guard streams.video.contains(where: { $0.id == id }) else {
            throw TransportFault(.invalidStream, "\(path): the camera has no video stream \(id)")
        }
    }

    private func requireAudio(_ id: UInt16, at path: String) throws(TransportFault) {
        guard streams.audio.contains(where: { $0.id == id }) else {
            throw TransportFault(.invalidStream, "\(path): the camera has no audio stream \(id)")
        }
    }
}

extension TransportOptions {
    /// Fills the form that is absent. The first stream of a list is the one of the old form; streams of the old form are
    /// named `video` and `audio`.
    fileprivate mutating func fillBothForms() {
        if videoStreams != nil || audioStreams != nil {
            if videoStreams?.isEmpty == true { videoStreams = nil }
            if audioStreams?.isEmpty == true { audioStreams = nil }
            videoStreamID = videoStreams?.first.map { .some($0.videoStreamID) }
            audioStreamID = audioStreams?.first.map { .some($0.audioStreamID) }
        } else {
            videoStreams = (videoStreamID ?? nil).map { [.init(videoStreamName: "video", videoStreamID: $0)] }
            audioStreams = (audioStreamID ?? nil).map { [.init(audioStreamName: "audio", audioStreamID: $0)] }
        }
    }

    /// Adopts the streams of other options, in both forms.
    mutating func copyStreams(from other: TransportOptions) {
        videoStreamID = other.videoStreamID
        audioStreamID = other.audioStreamID
        videoStreams = other.videoStreams
        audioStreams = other.audioStreams
    }
}
