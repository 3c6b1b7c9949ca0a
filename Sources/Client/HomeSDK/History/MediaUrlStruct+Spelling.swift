import HomeTypes

// Apps read these two by their names on the wire (Home APIs, `HistoryItemEvent.mediaUrl`).
extension Google.CameraHistoryTrait.MediaUrlStruct {
    /// The URL of a picture of the moment.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public var thumbnail_url: String? { thumbnailUrl }

    /// The address of a clip.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public var preview_url: String? { previewUrl }
}
