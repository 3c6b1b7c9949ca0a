/// Cameras of the machine itself.
extension CameraSource {
    /// A camera of this machine, from go2rtc's words (`v4l2:device?video=/dev/video0&…`, and behind `ffmpeg:` also
    /// `device?video=0&…`) or from a device's file; nil for anything else, and for pictures that the device does not compress.
    static func device(_ address: Substring) -> CameraSource? {
        if isDevice(address) { return CameraSource(.url("v4l2:\(address)")) }
        let isOfFFmpeg = !address.hasPrefix("v4l2:")
        let words = isOfFFmpeg ? address : address.dropFirst("v4l2:".count)
        guard words.hasPrefix("device?") else { return nil }
        var device: Substring?
        var options: [String] = []
        var remarks: [String] = []
        var namesFormat = false
        for item in words.dropFirst("device?".count).split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            let value = pair[1]
            switch pair[0] {
            case "video" where isOfFFmpeg && isNumber(value):
                device = Substring("/dev/video\(value)")
                remarks.append(
                    "go2rtc numbers the devices itself, so the number may differ here: check which /dev/video… "
                        + "it is")
            case "video": device = value
            case "input_format" where ["h264", "mjpeg"].contains(value):
                namesFormat = true
                options.append("format=\(value)")
            case "input_format", "pixel_format": return nil
            case "video_size", "resolution":
                if let size = size(value) {
                    options.append("size=\(size)")
                } else {
                    remarks.append("the size of its pictures is left out; write size=1280x720 behind the device")
                }
            case "framerate":
                if let rate = Int(value), (1...120).contains(rate) {
                    options.append("rate=\(rate)")
                } else {
                    remarks.append("the rate of its pictures is left out; write rate=15 behind the device")
                }
            case "audio": remarks.append("a camera of this machine has no sound")
            default: break
            }
        }
        guard let device, isDevice(device) else { return nil }
        if isOfFFmpeg, !namesFormat {
            remarks.append("the device is asked for H.264 or JPEG; uncompressed pictures are not accepted")
        }
        return CameraSource(
            .url("v4l2:\(device)" + (options.isEmpty ? "" : "?" + options.joined(separator: "&"))), remarks: remarks)
    }

    /// A size such as `1280x720`, also by a name that ffmpeg has for it, within what Gatehouse takes.
    private static func size(_ text: Substring) -> String? {
        let names = ["vga": "640x480", "svga": "800x600", "hd720": "1280x720", "hd1080": "1920x1080"]
        if let size = names[text.lowercased()] { return size }
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, sides.allSatisfy({ isNumber($0, digits: 1...4) && (16...8192).contains(Int($0) ?? 0) })
        else { return nil }
        return String(text)
    }

    /// Whether a text is a file of a device that Gatehouse opens.
    private static func isDevice(_ path: Substring) -> Bool {
        if path.hasPrefix("/dev/video") { return isNumber(path.dropFirst("/dev/video".count)) }
        return ["/dev/v4l/by-id/", "/dev/v4l/by-path/"].contains { folder in
            let name = path.dropFirst(folder.count)
            return path.hasPrefix(folder) && !["", ".", ".."].contains(name)
                && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?".utf8.contains($0) }
        }
    }

    private static func isNumber(_ text: Substring, digits: ClosedRange<Int> = 1...3) -> Bool {
        digits.contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
