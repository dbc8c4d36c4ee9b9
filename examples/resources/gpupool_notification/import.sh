# The ID is the name of the notification. The store must contain its record.
terraform import gpupool_notification.gpu gpu
