// The module that app code imports for the traits and device types. It brings what comes with GoogleHomeSDK as well.

@_exported import GoogleHomeSDK
